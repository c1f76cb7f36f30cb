package dev.tern.exchange;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One operation in flight, seen from this rank: a message to and from each peer in each of two
 * steps at most, and what is to be summed. Objects are used again for later operations, so that a
 * step makes no garbage. All methods are called by whoever holds the lock of the {@link
 * MeshDriver}.
 */
final class Collective implements MessageOwner {
  private static final long[] NOBODY_ASKS = {};
  static final int STEPS = 2;

  private final int rank;
  private final int frameBytes;
  private final TreeReduction tree;
  private final Message[][] out;
  private final Message[][] in;
  private final boolean[][] sends;
  private final boolean[][] receives;
  private final long[] arrived;
  private final long[] sources;

  private Operation operation = Operation.MESSAGE;
  private int detail;
  private long number;
  private int open;
  private long bytes;
  private long[] received = NOBODY_ASKS;
  private @Nullable Reduction reduction;
  private long own;
  private long target;
  private long length;
  private long summed;

  /** The rank whose first message is what this rank sends in the second step, or -1. */
  private int feeder;

  /** Kept reachable, so that memory of an automatic arena lives while it is in use. */
  private @Nullable MemorySegment first;

  private @Nullable MemorySegment second;

  /** Whether the mesh's own thread moves its bytes while nobody waits. */
  boolean isStarted;

  /** Whether a thread has it: from its begin until somebody waited for it. */
  boolean isLent;

  /** Whether a thread sleeps until it is done. */
  boolean isAwaited;

  /** Which of the handles is its own. */
  int slot;

  Scratch.@Nullable Area scratch;

  Collective(int rank, int ranks, int frameBytes, TreeReduction tree) {
    this.rank = rank;
    this.frameBytes = frameBytes;
    this.tree = tree;
    out = messages(ranks);
    in = messages(ranks);
    sends = new boolean[STEPS][ranks];
    receives = new boolean[STEPS][ranks];
    arrived = new long[ranks];
    sources = new long[ranks];
  }

  private Message[][] messages(int ranks) {
    Message[][] messages = new Message[STEPS][ranks];
    for (int step = 0; step < STEPS; step++) {
      for (int peer = 0; peer < ranks; peer++) {
        messages[step][peer] = new Message(this, peer, step);
      }
    }
    return messages;
  }

  /**
   * Makes it a new operation without messages. Operations of all ranks are numbered together, in
   * the order in which each rank begins them; messages between two ranks are numbered on their own.
   *
   * @param detail see {@link Operation#detail}
   */
  void begin(
      Operation operation, int detail, long number, MemorySegment first, MemorySegment second) {
    this.operation = operation;
    this.detail = detail;
    this.number = number;
    this.first = first;
    this.second = second;
    open = 0;
    bytes = 0;
    received = NOBODY_ASKS;
    reduction = null;
    feeder = -1;
    isStarted = false;
    isAwaited = false;
    isLent = true;
    for (int step = 0; step < STEPS; step++) {
      Arrays.fill(sends[step], false);
      Arrays.fill(receives[step], false);
    }
  }

  /** Sends {@code bytes} bytes at {@code address} to {@code peer}. */
  void send(int step, int peer, long address, long bytes) {
    Message message = prepared(out[step][peer], address, bytes);
    message.ready = bytes;
    sends[step][peer] = true;
  }

  /** Sends bytes that become known as {@link #reduce} or {@link #forward} says. */
  void sendLater(int step, int peer, long address, long bytes) {
    send(step, peer, address, bytes);
    out[step][peer].ready = 0;
  }

  /** Receives exactly {@code bytes} bytes. */
  void receive(int step, int peer, long address, long bytes) {
    Message message = prepared(in[step][peer], address, bytes);
    message.isExact = true;
    message.isWindowed = false;
    receives[step][peer] = true;
  }

  /** Receives at most {@code room} bytes. */
  void receiveSome(int peer, long address, long room) {
    receive(0, peer, address, room);
    in[0][peer].isExact = false;
  }

  /** Receives bytes to sum, by way of two frames of memory at {@code window}. */
  void receiveToReduce(int peer, long window, long bytes) {
    receive(0, peer, window, bytes);
    in[0][peer].isWindowed = true;
  }

  private Message prepared(Message message, long address, long bytes) {
    message.operation = operation;
    message.detail = detail;
    message.number = number;
    message.address = address;
    message.bytes = bytes;
    message.done = 0;
    open++;
    return message;
  }

  /** Has the lengths of what comes written to {@code received}, one a rank, this rank's apart. */
  void report(long[] received) {
    this.received = received;
  }

  /**
   * Combines {@code length} bytes at {@code own} with what comes in the first step, frame by frame,
   * into {@code target}; each combined frame may then leave in the second step.
   */
  void reduce(Reduction reduction, long own, long target, long length) {
    this.reduction = reduction;
    this.own = own;
    this.target = target;
    this.length = length;
    summed = 0;
    Arrays.fill(arrived, 0);
  }

  /** Has each frame that comes from {@code peer} in the first step leave in the second. */
  void forward(int peer) {
    feeder = peer;
  }

  int peers() {
    return sends[0].length;
  }

  @Nullable Message outgoing(int step, int peer) {
    return sends[step][peer] ? out[step][peer] : null;
  }

  @Nullable Message incoming(int step, int peer) {
    return receives[step][peer] ? in[step][peer] : null;
  }

  boolean isDone() {
    return open == 0;
  }

  /** Bytes received from all peers. */
  long bytes() {
    return bytes;
  }

  String text() {
    return operation + " %,d".formatted(number);
  }

  @Override
  public boolean hasRoom(Message message) {
    return !message.isWindowed || message.done - summed < 2L * frameBytes;
  }

  @Override
  public void arrived(Message message, int frame) {
    bytes += frame;
    if (message.step == 0 && message.peer == feeder) {
      release(frame);
    }
    if (message.isWindowed) {
      arrived[message.peer] += frame;
      sum();
    }
  }

  @Override
  public void finished(Message message) {
    if (message == in[0][message.peer] && received.length > 0) {
      received[message.peer] = message.done;
    }
    if (--open == 0) {
      first = null;
      second = null;
    }
  }

  /** Frames of the second step whose bytes are now known may leave. */
  private void release(long frame) {
    for (int peer = 0; peer < sends[1].length; peer++) {
      if (sends[1][peer]) {
        out[1][peer].ready += frame;
      }
    }
  }

  /** Sums what is there of all ranks. */
  private void sum() {
    while (reduction != null && summed < length) {
      int frame = (int) Math.min(frameBytes, length - summed);
      for (int peer = 0; peer < sources.length; peer++) {
        if (peer == rank) {
          sources[peer] = own + summed;
        } else if (arrived[peer] < summed + frame) {
          return;
        } else {
          sources[peer] = in[0][peer].address + (summed / frameBytes & 1) * frameBytes;
        }
      }
      tree.run(reduction, sources, sources.length, target + summed, frame);
      summed += frame;
      release(frame);
    }
  }
}
