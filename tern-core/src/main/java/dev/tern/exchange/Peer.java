package dev.tern.exchange;

import java.io.IOException;

/** One other rank: what goes to it, what comes from it, and when it was last heard. */
final class Peer {
  private final int rank;
  private final Wire wire;
  private final Outgoing out;
  private final Incoming in;
  private final ControlLink control;

  /** When a byte came or a frame that was read ahead was taken, or a heartbeat came. */
  private long heard;

  /**
   * When a byte moved or a frame that was read ahead was taken, or the first of the waiting
   * messages was posted.
   */
  private long moved;

  /** Why nothing more comes, empty while something may. */
  private String end = "";

  private long ended;
  private boolean saidGoodbye;

  Peer(int rank, Wire wire, Outgoing out, Incoming in, ControlLink control) {
    this.rank = rank;
    this.wire = wire;
    this.out = out;
    this.in = in;
    this.control = control;
    live(System.nanoTime());
  }

  int rank() {
    return rank;
  }

  Wire wire() {
    return wire;
  }

  ControlLink control() {
    return control;
  }

  /** Counts the peer as heard and moved at {@code now}. */
  void live(long now) {
    heard = now;
    moved = now;
  }

  void hear(long now) {
    heard = now;
  }

  void add(Message message, boolean goesOut, long now) {
    if (isIdle()) {
      moved = now;
    }
    if (goesOut) {
      out.add(message);
    } else {
      in.add(message);
    }
  }

  boolean isIdle() {
    return out.first() == null && in.first() == null;
  }

  boolean send(int ownRank, long now) throws IOException {
    if (!end.isEmpty() || out.first() == null) {
      return false;
    }
    boolean any = out.advance(ownRank) > 0;
    if (any) {
      moved = now;
    }
    return any;
  }

  boolean receive(long now) throws IOException, FrameFaultException {
    if (!end.isEmpty() || in.first() == null) {
      return false;
    }
    boolean any = in.advance();
    if (any) {
      moved = now;
      heard = now;
    }
    return any;
  }

  /** Says what the thread of selector {@code which} is to be woken for. */
  void want(int which, boolean data) {
    boolean open = data && end.isEmpty();
    wire.wants(which, open && in.wantsToRead(), open && out.wantsToWrite());
    if (which == Wire.BACKGROUND) {
      control.wire().wants(which, !saidGoodbye, control.wantsToWrite());
    }
  }

  /** The connection for data ended; the one for control may say why. */
  void end(String why, long now) {
    end = why;
    ended = now;
  }

  boolean hasEnded() {
    return !end.isEmpty();
  }

  String end() {
    return end;
  }

  long ended() {
    return ended;
  }

  void sayGoodbye() {
    saidGoodbye = true;
  }

  boolean saidGoodbye() {
    return saidGoodbye;
  }

  /** Whether an operation waits for this peer, not for another. */
  boolean isAwaited() {
    return in.wantsToRead() || out.wantsToWrite();
  }

  long heard() {
    return heard;
  }

  long moved() {
    return moved;
  }

  /** What waits for the peer and how far it came. */
  String state() {
    Message message = in.wantsToRead() ? in.first() : out.first();
    if (message == null) {
      return "nothing";
    }
    boolean comes = message == in.first();
    return "%s (%,d of %s%,d bytes %s)"
        .formatted(
            message.text(),
            comes ? in.arrived() : message.done,
            comes && !message.isExact ? "at most " : "",
            message.bytes,
            comes ? "had arrived" : "were sent");
  }

  void close() {
    wire.close();
    control.wire().close();
  }
}
