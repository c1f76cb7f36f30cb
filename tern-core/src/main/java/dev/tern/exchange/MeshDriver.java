package dev.tern.exchange;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Moves the bytes of all operations in flight. One thread at a time drives: the one that waits for
 * an operation, else, for operations that were started, the thread of the mesh. Both send
 * heartbeats. That thread also reads what peers have to say, and holds them to the deadlines.
 * Whoever drives goes over all peers again and again without blocking; when nothing moves, it spins
 * briefly, then sleeps until a connection is ready.
 *
 * <p>The lock of this object guards all state. It is held for one round over the peers at most,
 * never while a thread sleeps. After a failure nobody touches memory of users any more.
 */
final class MeshDriver {
  private static final int SPINS = 200;

  private static final Consumer<SelectionKey> NOTHING = key -> {};

  private final int rank;
  private final Peer[] peers;
  private final Collective[] collectives;
  private final Scratch scratch = new Scratch();
  private final Selector waiting;
  private final Selector background;
  private final Thread thread;
  private final PeerWatch watch;

  private int next;
  private boolean isDriven;
  private boolean isAsleep;
  private int sleepers;
  private long drivenSince;
  private @Nullable MeshException failure;
  private boolean isClosed;

  /**
   * @param peers all other ranks, the one after this first
   */
  MeshDriver(MeshOptions options, Peer[] peers, Collective[] collectives) throws IOException {
    this.peers = peers;
    this.collectives = collectives;
    rank = options.rank();
    watch = new PeerWatch(options, peers);
    waiting = Selector.open();
    background = Selector.open();
    for (Peer peer : peers) {
      peer.wire().register(waiting, Wire.WAITING);
      peer.wire().register(background, Wire.BACKGROUND);
      peer.control().wire().register(background, Wire.BACKGROUND);
    }
    want(Wire.BACKGROUND, false);
    thread = Thread.ofPlatform().daemon().name("tern-mesh-" + rank).unstarted(this::serve);
    thread.start();
  }

  /** An operation that is not in flight, for its messages to be set. */
  synchronized Collective lend() {
    requireWhole();
    for (int i = 0; i < collectives.length; i++) {
      int slot = (next + i) % collectives.length;
      if (!collectives[slot].isLent) {
        next = (slot + 1) % collectives.length;
        return collectives[slot];
      }
    }
    throw new IllegalStateException(
        "exchange: got an operation while %d are in flight, expected at most %d; wait for some first"
            .formatted(collectives.length, collectives.length));
  }

  /** Memory for an operation until somebody waited for it. */
  long scratch(Collective collective, long bytes) {
    try {
      Scratch.Area area = scratch.take(bytes);
      collective.scratch = area;
      return area.address();
    } catch (OutOfMemoryError e) {
      fail(
          new MeshException(
              "exchange: rank %d got no %,d bytes for %s, expected memory for two frames of each rank"
                      .formatted(rank, bytes, collective.text())
                  + "; make frames smaller",
              rank,
              e));
      throw failed();
    }
  }

  /** Puts the messages of an operation behind those before it and moves what can be moved. */
  synchronized void post(Collective collective) {
    long now = System.nanoTime();
    for (int step = 0; step < Collective.STEPS; step++) {
      for (Peer peer : peers) {
        Message out = collective.outgoing(step, peer.rank());
        if (out != null) {
          peer.add(out, true, now);
        }
        Message in = collective.incoming(step, peer.rank());
        if (in != null) {
          peer.add(in, false, now);
        }
      }
    }
    boolean moved = round();
    if (isDriven) {
      if (isAsleep) {
        waiting.wakeup();
      }
    } else if (moved && anyStarted()) {
      // What moved may have made room for bytes that are read already, of which no selector knows.
      background.wakeup();
    }
  }

  /** Has the thread of the mesh move its bytes while nobody waits. */
  synchronized void start(Collective collective) {
    collective.isStarted = true;
    if (isPending(collective) && !isDriven) {
      drivenSince = System.nanoTime();
      background.wakeup();
    }
  }

  synchronized boolean isDone(Collective collective) {
    return !isPending(collective);
  }

  /** Waits until the operation is done; bytes that it received. */
  long await(Collective collective) {
    if (takesOver(collective)) {
      try {
        drive(collective);
      } finally {
        leave();
      }
    }
    return finish(collective);
  }

  private boolean isPending(Collective collective) {
    return !collective.isDone() && failure == null;
  }

  /** Whether this thread must drive; if another does, waits until it is done. */
  private synchronized boolean takesOver(Collective collective) {
    if (!isPending(collective)) {
      return false;
    }
    if (!isDriven) {
      isDriven = true;
      drivenSince = System.nanoTime();
      return true;
    }
    collective.isStarted = true;
    collective.isAwaited = true;
    sleepers++;
    try {
      while (isPending(collective)) {
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      fail(interrupted(collective));
    } finally {
      sleepers--;
    }
    return false;
  }

  private MeshException interrupted(Collective collective) {
    return new MeshException(
        "exchange: rank %d was interrupted while it waited for %s"
            .formatted(rank, collective.text()),
        rank);
  }

  private void drive(Collective collective) {
    for (int idle = 0; ; ) {
      synchronized (this) {
        boolean moved = round();
        if (!isPending(collective)) {
          return;
        }
        if (moved) {
          idle = 0;
          continue;
        }
        if (Thread.currentThread().isInterrupted()) {
          fail(interrupted(collective));
          return;
        }
        if (++idle >= SPINS) {
          isAsleep = true;
          want(Wire.WAITING, true);
        }
      }
      if (idle < SPINS) {
        pause(idle);
      } else {
        sleep(waiting, 1000);
        synchronized (this) {
          isAsleep = false;
        }
        idle = 0;
      }
    }
  }

  /** Lets other processes run, whose bytes this one waits for. */
  private static void pause(int idle) {
    Thread.onSpinWait();
    if ((idle & 15) == 15) {
      Thread.yield();
    }
  }

  private void sleep(Selector selector, long millis) {
    try {
      selector.select(NOTHING, millis);
    } catch (ClosedSelectorException _) {
      // The mesh failed or was closed: whoever slept looks at once.
    } catch (IOException e) {
      fail(new MeshException("exchange: rank " + rank + " cannot wait: " + reason(e), rank, e));
    }
  }

  private synchronized void leave() {
    isDriven = false;
    if (failure == null && anyStarted()) {
      drivenSince = System.nanoTime();
      background.wakeup();
    }
    notifyAll();
  }

  private synchronized long finish(Collective collective) {
    if (!collective.isLent) {
      throw new IllegalStateException(
          "exchange: got a second wait for an operation, expected one; its handle is used again");
    }
    if (!collective.isDone()) {
      throw failed();
    }
    collective.isLent = false;
    Scratch.Area area = collective.scratch;
    if (area != null) {
      collective.scratch = null;
      scratch.give(area);
    }
    return collective.bytes();
  }

  /** What is thrown from now on: with the stack of this call, and of the first failure. */
  private MeshException failed() {
    MeshException first = failure;
    return first == null
        ? new MeshException("exchange: the mesh of rank " + rank + " is closed", rank)
        : new MeshException(String.valueOf(first.getMessage()), first.culprit(), first);
  }

  private void requireWhole() {
    if (failure != null || isClosed) {
      throw failed();
    }
  }

  private boolean anyStarted() {
    for (Collective collective : collectives) {
      if (collective.isLent && collective.isStarted && !collective.isDone()) {
        return true;
      }
    }
    return false;
  }

  private boolean anyPending() {
    for (Collective collective : collectives) {
      if (collective.isLent && !collective.isDone()) {
        return true;
      }
    }
    return false;
  }

  /** Whether a thread sleeps for an operation that is done. */
  private boolean anyAwaitedIsDone() {
    for (Collective collective : collectives) {
      if (collective.isLent && collective.isAwaited && collective.isDone()) {
        return true;
      }
    }
    return false;
  }

  /** Goes over all peers once; whether something moved. Ranks begin at different peers. */
  private boolean round() {
    if (failure != null || isClosed) {
      return false;
    }
    try {
      return roundOverPeers();
    } catch (RuntimeException | Error e) {
      fail(broken(e));
      throw e;
    }
  }

  private MeshException broken(Throwable e) {
    return new MeshException("exchange: rank %d failed: %s".formatted(rank, e), rank, e);
  }

  private boolean roundOverPeers() {
    boolean moved = false;
    long now = System.nanoTime();
    for (int d = 0; d < peers.length && failure == null; d++) {
      moved |= sent(peers[d], now);
      if (failure == null) {
        moved |= received(peers[peers.length - 1 - d], now);
      }
    }
    if (failure == null) {
      // The thread of the mesh may wait long for the lock while another one moves many bytes.
      watch.heartbeat(now);
    }
    if (sleepers > 0 && anyAwaitedIsDone()) {
      notifyAll();
    }
    return moved;
  }

  private boolean sent(Peer peer, long now) {
    try {
      return peer.send(rank, now);
    } catch (IOException e) {
      lost(peer, e, now);
      return false;
    }
  }

  private boolean received(Peer peer, long now) {
    try {
      return peer.receive(now);
    } catch (IOException e) {
      lost(peer, e, now);
    } catch (FrameFaultException e) {
      fault(peer, e);
    }
    return false;
  }

  private void fault(Peer peer, FrameFaultException e) {
    fail(
        new MeshException(
            "exchange: rank %d got %s; from rank %d in %s. All ranks must do the same operations in"
                    .formatted(rank, e.getMessage(), peer.rank(), peer.state())
                + " the same order, over a network that changes nothing",
            peer.rank(),
            e));
  }

  private void lost(Peer peer, IOException e, long now) {
    peer.end(reason(e), now);
    listen(peer, now);
    if (failure == null) {
      background.wakeup();
    }
  }

  private static String reason(IOException e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }

  /** What the thread of the mesh does. */
  private void serve() {
    boolean moved = false;
    while (true) {
      if (moved) {
        Thread.yield();
      } else {
        sleep(background, sleepMillis());
      }
      synchronized (this) {
        if (isClosed || failure != null) {
          return;
        }
        try {
          moved = tend();
        } catch (RuntimeException | Error e) {
          fail(broken(e));
          throw e;
        }
      }
    }
  }

  private synchronized long sleepMillis() {
    boolean isUrgent = false;
    for (Peer peer : peers) {
      isUrgent |= peer.hasEnded();
    }
    return isUrgent ? 10 : Math.max(1, watch.tick() / 1_000_000);
  }

  private boolean tend() {
    boolean moved = !isDriven && anyStarted() && round();
    long now = System.nanoTime();
    for (int p = 0; p < peers.length && failure == null; p++) {
      listen(peers[p], now);
    }
    if (failure == null) {
      watch.heartbeat(now);
      MeshException late = watch.check(now, isDriven || anyStarted(), drivenSince);
      if (late != null) {
        fail(late);
      }
    }
    if (failure == null && !moved) {
      want(Wire.BACKGROUND, !isDriven && anyStarted());
    }
    return moved && failure == null;
  }

  private void want(int which, boolean data) {
    for (Peer peer : peers) {
      peer.want(which, data);
    }
  }

  /** Reads what a peer has to say about itself. */
  private void listen(Peer peer, long now) {
    if (peer.saidGoodbye()) {
      return;
    }
    try {
      // First what came, then what waits to be sent: a peer that said goodbye takes no more.
      boolean any = false;
      for (byte kind = peer.control().next(); kind != 0; kind = peer.control().next()) {
        any = true;
        peer.hear(now);
        if (kind == Frame.ABORT) {
          fail(peer.control().reason(peers.length + 1));
          return;
        }
        if (kind == Frame.GOODBYE) {
          peer.sayGoodbye();
          return;
        }
      }
      push(peer, any);
    } catch (IOException e) {
      fail(
          new MeshException(
              "exchange: rank %d lost rank %d (%s) in %s; that process ended or cannot be reached"
                  .formatted(rank, peer.rank(), reason(e), peer.state()),
              peer.rank(),
              e));
    } catch (FrameFaultException e) {
      fault(peer, e);
    }
  }

  /** What cannot be sent is no failure yet if something came: the next look may find a goodbye. */
  private static void push(Peer peer, boolean hasHeard) throws IOException {
    try {
      peer.control().push();
    } catch (IOException e) {
      if (!hasHeard) {
        throw e;
      }
    }
  }

  /** Ends the mesh on all ranks: tells them why, closes the connections, frees all who wait. */
  synchronized void fail(MeshException why) {
    if (failure != null || isClosed) {
      return;
    }
    failure = why;
    for (Peer peer : peers) {
      try {
        peer.control().abort(rank, why);
      } catch (IOException | RuntimeException _) {
        // A peer that cannot be told sees its connections end.
      }
    }
    release();
  }

  /** Ends the mesh of this rank in peace; operations in flight make it a failure. */
  void close() {
    synchronized (this) {
      if (isClosed) {
        return;
      }
      if (failure == null && anyPending()) {
        fail(
            new MeshException(
                "exchange: rank %d closed its mesh with operations in flight".formatted(rank),
                rank));
      }
      isClosed = true;
      if (failure == null) {
        for (Peer peer : peers) {
          try {
            peer.control().goodbye(rank);
          } catch (IOException _) {
            // It is gone already.
          }
        }
        release();
      }
    }
    join();
  }

  private void join() {
    if (Thread.currentThread() == thread) {
      return;
    }
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void release() {
    for (Peer peer : peers) {
      peer.close();
    }
    try {
      waiting.close();
      background.close();
    } catch (IOException _) {
      // Nothing of it is used any more.
    }
    notifyAll();
  }
}
