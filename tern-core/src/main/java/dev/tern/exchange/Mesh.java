package dev.tern.exchange;

import dev.tern.internal.memory.Memory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Ranks 0 to n - 1, each connected to all others, and what they do together. All ranks must begin
 * the same operations in the same order with the same sizes; messages between two of them may stand
 * anywhere between, in the same order on both sides. A rank that does something else, with another
 * {@link Reduction} or another root, is found out by the first bytes of it that another rank gets,
 * and the mesh ends with an error that says what was got and what was expected. Ranks that wait for
 * each other and send nothing, such as two roots of a {@link #gather}, are found out by the
 * deadline; bytes that nobody waits for, such as a broadcast of a second root, by the next
 * operation.
 *
 * <p>Memory is native segments of the caller, from any arena; lengths are bytes. Numbers go as they
 * are. Each operation returns an {@link Exchange} at once; its memory is in use until {@link
 * Exchange#await} returns. After some steps of the same sizes, operations make no garbage unless
 * frames are encrypted.
 *
 * <p>Any thread may begin and await operations. Sums have the same bits on every rank, over every
 * kind of connection and in every order of arrival; {@link Reduction} says how they are added.
 *
 * <p>A rank reads nothing that it did not ask for, so a peer cannot make it hold more than its
 * buffers: about 32 KiB for each peer, and two frames of each peer for each sum in flight.
 * Encrypted frames need about six frames more for each peer, 740 KiB for frames of 128 KiB.
 *
 * <p>Any failure ends the mesh on all ranks at once: see {@link MeshException}. A new one then
 * takes a new attempt.
 */
public final class Mesh implements AutoCloseable {
  private final MeshOptions options;
  private final int rank;
  private final int ranks;
  private final MeshDriver driver;
  private final Collectives plans;
  private final Exchange[] handles;
  private final Collective[] collectives;
  private final long[] sentMessages;
  private final long[] receivedMessages;
  private long operations;

  /**
   * @param links by rank and kind; not looked at for this rank. They are closed if this fails
   */
  Mesh(MeshOptions options, @Nullable Link[][] links) {
    this.options = options;
    rank = options.rank();
    ranks = options.ranks();
    collectives = new Collective[options.inFlight()];
    TreeReduction tree = new TreeReduction();
    for (int i = 0; i < collectives.length; i++) {
      collectives[i] = new Collective(rank, ranks, options.frameBytes(), tree);
    }
    try {
      driver = new MeshDriver(options, peers(links), collectives);
    } catch (IOException e) {
      Link.close(links);
      throw new MeshException("exchange: rank " + rank + " has no selector", rank, e);
    } catch (RuntimeException | Error e) {
      Link.close(links);
      throw e;
    }
    plans = new Collectives(driver, options);
    handles = new Exchange[collectives.length];
    for (int i = 0; i < handles.length; i++) {
      handles[i] = new Exchange(driver, collectives[i]);
      collectives[i].slot = i;
    }
    sentMessages = new long[ranks];
    receivedMessages = new long[ranks];
  }

  private Peer[] peers(@Nullable Link[][] links) {
    Peer[] peers = new Peer[ranks - 1];
    AddressWindows windows = new AddressWindows();
    for (int d = 1; d < ranks; d++) {
      int p = (rank + d) % ranks;
      Link data = links[p][Hello.DATA];
      Link control = links[p][Hello.CONTROL];
      if (data == null || control == null) {
        throw new IllegalArgumentException("exchange: got no connection with rank " + p);
      }
      peers[d - 1] = new PeerParts(options, p, windows).peer(data, control);
    }
    return peers;
  }

  /**
   * All ranks of one process, connected by pipes, for tests and for trainings of one machine.
   *
   * @param options of any rank; all others get the same
   */
  public static List<Mesh> inProcess(MeshOptions options) {
    return new LocalLinks(options).meshes();
  }

  /** This rank. */
  public int rank() {
    return rank;
  }

  /** How many ranks there are. */
  public int ranks() {
    return ranks;
  }

  /** Sends all of {@code message} to rank {@code to}, which must receive it. */
  public Exchange send(int to, MemorySegment message) {
    requireOther(to);
    long address = address(Operation.MESSAGE, message);
    synchronized (driver) {
      Collective c = driver.lend();
      c.begin(Operation.MESSAGE, 0, sentMessages[to]++, message, message);
      c.send(0, to, address, message.byteSize());
      return post(c);
    }
  }

  /**
   * Receives the next message from rank {@code from}; it may be shorter than {@code room}, and
   * {@link Exchange#await} returns its length.
   */
  public Exchange receive(int from, MemorySegment room) {
    requireOther(from);
    long address = writable(Operation.MESSAGE, room);
    synchronized (driver) {
      Collective c = driver.lend();
      c.begin(Operation.MESSAGE, 0, receivedMessages[from]++, room, room);
      c.receiveSome(from, address, room.byteSize());
      return post(c);
    }
  }

  /** Is done when all ranks have begun it. */
  public Exchange barrier() {
    synchronized (driver) {
      Collective c = next(Operation.BARRIER, 0, MemorySegment.NULL, MemorySegment.NULL);
      plans.barrier(c);
      return post(c);
    }
  }

  /** Gives {@code values} of rank {@code root} to all others, whose own are of the same length. */
  public Exchange broadcast(MemorySegment values, int root) {
    requireRank(root);
    long address =
        rank == root ? address(Operation.BROADCAST, values) : writable(Operation.BROADCAST, values);
    synchronized (driver) {
      Collective c = next(Operation.BROADCAST, Operation.rooted(root), values, values);
      plans.broadcast(c, address, values.byteSize(), root);
      return post(c);
    }
  }

  /**
   * Brings {@code own} of all ranks to rank {@code root}, one after another in order of rank.
   *
   * @param own as long on all ranks
   * @param all n times as long; at other ranks than the root it is not looked at
   */
  public Exchange gather(MemorySegment own, MemorySegment all, int root) {
    requireRank(root);
    long from = address(Operation.GATHER, own);
    long to = rank == root ? parts(Operation.GATHER, all, own) : 0;
    synchronized (driver) {
      Collective c = next(Operation.GATHER, Operation.rooted(root), own, all);
      plans.gather(c, from, to, own.byteSize(), root);
      return post(c);
    }
  }

  /**
   * Gives each rank its part of {@code all} of rank {@code root}.
   *
   * @param all n times as long as {@code own}; at other ranks than the root it is not looked at
   */
  public Exchange scatter(MemorySegment all, MemorySegment own, int root) {
    requireRank(root);
    long to = writable(Operation.SCATTER, own);
    requireParts(Operation.SCATTER, rank == root, all, own);
    long from = rank == root ? address(Operation.SCATTER, all) : 0;
    synchronized (driver) {
      Collective c = next(Operation.SCATTER, Operation.rooted(root), own, all);
      plans.scatter(c, from, to, own.byteSize(), root);
      return post(c);
    }
  }

  /**
   * Combines {@code values} of all ranks into those of rank {@code root}. Those of other ranks
   * serve as memory meanwhile: what they hold afterwards is not defined.
   */
  public Exchange reduce(MemorySegment values, Reduction reduction, int root) {
    requireRank(root);
    requireNumbers(Operation.REDUCE, values, reduction);
    long address = writable(Operation.REDUCE, values);
    synchronized (driver) {
      int detail = Operation.rooted(root) + Operation.reducing(reduction);
      Collective c = next(Operation.REDUCE, detail, values, values);
      plans.reduce(c, address, values.byteSize(), reduction, root);
      return post(c);
    }
  }

  /** Combines {@code values} of all ranks, in place and on all of them. */
  public Exchange allReduce(MemorySegment values, Reduction reduction) {
    requireNumbers(Operation.ALL_REDUCE, values, reduction);
    long address = writable(Operation.ALL_REDUCE, values);
    synchronized (driver) {
      Collective c = next(Operation.ALL_REDUCE, Operation.reducing(reduction), values, values);
      plans.allReduce(c, address, values.byteSize(), reduction);
      return post(c);
    }
  }

  /**
   * Combines {@code values} of all ranks and gives each rank its part.
   *
   * @param values n times as long as {@code own}
   * @param own what this rank gets; it may be its part of {@code values}
   */
  public Exchange reduceScatter(MemorySegment values, MemorySegment own, Reduction reduction) {
    requireNumbers(Operation.REDUCE_SCATTER, own, reduction);
    requireParts(Operation.REDUCE_SCATTER, true, values, own);
    long from = address(Operation.REDUCE_SCATTER, values);
    long to = writable(Operation.REDUCE_SCATTER, own);
    synchronized (driver) {
      Collective c = next(Operation.REDUCE_SCATTER, Operation.reducing(reduction), values, own);
      plans.reduceScatter(c, from, to, own.byteSize(), reduction);
      return post(c);
    }
  }

  /**
   * Brings {@code own} of all ranks to all ranks, one after another in order of rank.
   *
   * @param own as long on all ranks; it may be this rank's part of {@code all}
   * @param all n times as long
   */
  public Exchange allGather(MemorySegment own, MemorySegment all) {
    long from = address(Operation.ALL_GATHER, own);
    long to = parts(Operation.ALL_GATHER, all, own);
    synchronized (driver) {
      Collective c = next(Operation.ALL_GATHER, 0, own, all);
      plans.allGather(c, from, to, own.byteSize());
      return post(c);
    }
  }

  /** Gives each rank one of n equal parts of {@code send} and gets one of each. */
  public Exchange allToAll(MemorySegment send, MemorySegment receive) {
    if (send.byteSize() != receive.byteSize() || send.byteSize() % ranks != 0) {
      throw new IllegalArgumentException(
          "all-to-all: got %,d bytes to send and room for %,d, expected both equal and a multiple"
                  .formatted(send.byteSize(), receive.byteSize())
              + " of "
              + ranks);
    }
    long from = address(Operation.ALL_TO_ALL, send);
    long to = writable(Operation.ALL_TO_ALL, receive);
    synchronized (driver) {
      Collective c = next(Operation.ALL_TO_ALL, 0, send, receive);
      plans.allToAll(c, from, to, send.byteSize() / ranks);
      return post(c);
    }
  }

  /**
   * Gives each rank a part of its own length and gets one of each.
   *
   * @param sendStarts n + 1 ascending offsets: the part for rank p is the bytes {@code
   *     sendStarts[p]} to {@code sendStarts[p + 1]} of {@code send}
   * @param receiveStarts the same of {@code receive}: the room for what rank p sends, which may be
   *     less
   * @param received gets the lengths of what came, n of them, until the wait ends. What comes lies
   *     at the beginning of its room
   */
  public Exchange allToAll(
      MemorySegment send,
      long[] sendStarts,
      MemorySegment receive,
      long[] receiveStarts,
      long[] received) {
    requireStarts("to send", send, sendStarts);
    requireStarts("to receive", receive, receiveStarts);
    long own = sendStarts[rank + 1] - sendStarts[rank];
    if (received.length != ranks || own > receiveStarts[rank + 1] - receiveStarts[rank]) {
      throw new IllegalArgumentException(
          "all-to-all: got %d lengths and %,d bytes to itself for a room of %,d, expected %d"
                  .formatted(
                      received.length, own, receiveStarts[rank + 1] - receiveStarts[rank], ranks)
              + " lengths and room enough");
    }
    long from = address(Operation.ALL_TO_ALL, send);
    long to = writable(Operation.ALL_TO_ALL, receive);
    synchronized (driver) {
      Collective c = next(Operation.ALL_TO_ALL, 0, send, receive);
      plans.allToAll(c, from, sendStarts, to, receiveStarts);
      received[rank] = own;
      c.report(received);
      return post(c);
    }
  }

  /**
   * Ends the mesh on all ranks at once: whoever waits, there or here, gets a {@link MeshException}
   * with this reason.
   */
  public void abort(String reason) {
    driver.fail(new MeshException("exchange: rank %d ended it: %s".formatted(rank, reason), rank));
  }

  /**
   * Takes leave of the other ranks. If operations are in flight, the mesh ends on all of them. A
   * rank that later waits for this one gets a {@link MeshException} that says so.
   */
  @Override
  public void close() {
    driver.close();
  }

  private Collective next(
      Operation operation, int detail, MemorySegment first, MemorySegment second) {
    Collective c = driver.lend();
    c.begin(operation, detail, operations++, first, second);
    return c;
  }

  private Exchange post(Collective c) {
    driver.post(c);
    return handles[c.slot];
  }

  private static long address(Operation operation, MemorySegment segment) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          operation + ": got a segment on the heap, expected one off the heap; use an Arena");
    }
    return segment.byteSize() == 0 ? segment.address() : Memory.address(segment, "exchange");
  }

  private static long writable(Operation operation, MemorySegment segment) {
    if (segment.isReadOnly()) {
      throw new IllegalArgumentException(
          operation + ": got a segment that is read only, expected one to write to");
    }
    return address(operation, segment);
  }

  private long parts(Operation operation, MemorySegment all, MemorySegment own) {
    requireParts(operation, true, all, own);
    return writable(operation, all);
  }

  private void requireParts(
      Operation operation, boolean applies, MemorySegment all, MemorySegment own) {
    if (applies && all.byteSize() != ranks * own.byteSize()) {
      throw new IllegalArgumentException(
          "%s: got %,d bytes of all ranks and %,d of one, expected %d times as many"
              .formatted(operation, all.byteSize(), own.byteSize(), ranks));
    }
  }

  private static void requireNumbers(
      Operation operation, MemorySegment values, Reduction reduction) {
    if (values.byteSize() % reduction.elementBytes() != 0) {
      throw new IllegalArgumentException(
          "%s: got %,d bytes, expected a multiple of %d for %s"
              .formatted(operation, values.byteSize(), reduction.elementBytes(), reduction));
    }
  }

  private void requireStarts(String what, MemorySegment segment, long[] starts) {
    boolean isGood = starts.length == ranks + 1;
    for (int p = 0; isGood && p < ranks; p++) {
      isGood = starts[p] >= 0 && starts[p] <= starts[p + 1];
    }
    if (!isGood || starts[ranks] > segment.byteSize()) {
      throw new IllegalArgumentException(
          "all-to-all: got offsets %s %s in %,d bytes, expected %d that ascend from 0 on"
              .formatted(Arrays.toString(starts), what, segment.byteSize(), ranks + 1));
    }
  }

  private void requireRank(int other) {
    if (other < 0 || other >= ranks) {
      throw new IllegalArgumentException(
          "exchange: got rank %d, expected 0 to %d".formatted(other, ranks - 1));
    }
  }

  private void requireOther(int other) {
    requireRank(other);
    if (other == rank) {
      throw new IllegalArgumentException(
          "exchange: got a message of rank %d to itself, expected another rank".formatted(rank));
    }
  }
}
