package dev.tern.exchange;

import dev.tern.internal.memory.Memory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The second connection with a peer, for what must come through while data wait: that the peer
 * lives, that it ends, and why. It is always read. One frame is on its way at a time, so a peer
 * that does not read makes nothing pile up.
 */
final class ControlLink {
  /** Bytes of the longest payload: the rank at fault, then a text. */
  static final int MOST_BYTES = 1024;

  private final Wire wire;
  private final FrameWriter writer;
  private final FrameReader reader;
  private final Frame head;
  private final Frame came;
  private final MemorySegment told;
  private final MemorySegment heard;
  private final FrameReader.Moved moved = new FrameReader.Moved();

  ControlLink(Wire wire, FrameWriter writer, FrameReader reader, Frame head, Frame came) {
    this.wire = wire;
    this.writer = writer;
    this.reader = reader;
    this.head = head;
    this.came = came;
    Arena arena = Arena.ofAuto();
    told = Memory.allocate(arena, MOST_BYTES, 64, "exchange");
    heard = Memory.allocate(arena, MOST_BYTES, 64, "exchange");
  }

  Wire wire() {
    return wire;
  }

  /** Whether bytes wait for the wire to take them. */
  boolean wantsToWrite() {
    return writer.isBusy();
  }

  /** Tells the peer that this rank lives, unless it has not taken what was told before. */
  void heartbeat(int rank) throws IOException {
    tell(Frame.HEARTBEAT, rank, 0);
  }

  void goodbye(int rank) throws IOException {
    tell(Frame.GOODBYE, rank, 0);
  }

  /** Tells the peer why this rank ends, if it can be told at once. */
  void abort(int rank, MeshException why) throws IOException {
    byte[] text = String.valueOf(why.getMessage()).getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, MOST_BYTES - Integer.BYTES);
    told.set(ValueLayout.JAVA_INT_UNALIGNED, 0, Integer.reverseBytes(why.culprit()));
    MemorySegment.copy(text, 0, told, ValueLayout.JAVA_BYTE, Integer.BYTES, length);
    tell(Frame.ABORT, rank, Integer.BYTES + length);
  }

  private void tell(byte kind, int rank, int length) throws IOException {
    push();
    if (writer.isBusy()) {
      return;
    }
    head.kind = kind;
    head.operation = 0;
    head.step = 0;
    head.detail = 0;
    head.sender = rank;
    head.number = 0;
    head.total = length;
    head.length = length;
    writer.begin(head, told.address());
    push();
  }

  void push() throws IOException {
    if (writer.isBusy()) {
      writer.push();
    }
  }

  /** The kind of the next frame that came, or 0 if none is there. */
  byte next() throws IOException, FrameFaultException {
    if (!reader.head(came, moved)) {
      return 0;
    }
    boolean isKnown =
        came.kind == Frame.HEARTBEAT || came.kind == Frame.GOODBYE || came.kind == Frame.ABORT;
    int least = came.kind == Frame.ABORT ? Integer.BYTES : 0;
    int most = came.kind == Frame.ABORT ? MOST_BYTES : 0;
    if (!isKnown || came.total != came.length || came.length < least || came.length > most) {
      throw new FrameFaultException(
          "a frame of kind %d with %,d bytes on the connection for control, expected a heartbeat,"
                  .formatted(came.kind, came.total)
              + " a goodbye or an abort");
    }
    return reader.payload(came, heard.address(), moved) ? came.kind : 0;
  }

  /** Why the peer ended, after {@link Frame#ABORT}. */
  MeshException reason(int ranks) {
    int culprit = Integer.reverseBytes(heard.get(ValueLayout.JAVA_INT_UNALIGNED, 0));
    byte[] text = new byte[came.length - Integer.BYTES];
    MemorySegment.copy(heard, ValueLayout.JAVA_BYTE, Integer.BYTES, text, 0, text.length);
    boolean isRank = culprit >= 0 && culprit < ranks;
    return new MeshException(
        new String(Arrays.copyOf(text, text.length), StandardCharsets.UTF_8),
        isRank ? culprit : -1);
  }
}
