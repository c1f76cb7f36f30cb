package dev.tern.data.readers;

import dev.tern.data.Batch;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Threads that map batches, each when one of them is free. They start with the first batches. */
final class MapThreads {
  /** A batch given to the crew. What it says of progress is guarded by the crew's lock. */
  static final class Piece {
    private final Batch raw;
    private final int rows;
    private final int epoch;
    private final long before;
    private @Nullable Batch mapped;
    private @Nullable Throwable failure;
    private boolean done;
    private boolean dropped;

    /**
     * @param raw rows to map; closed by the crew
     * @param before rows before them in pass {@code epoch}
     */
    Piece(Batch raw, int epoch, long before) {
      this.raw = raw;
      rows = raw.size();
      this.epoch = epoch;
      this.before = before;
    }

    int rows() {
      return rows;
    }

    private void closeMapped() {
      if (mapped != null) {
        mapped.close();
      }
    }
  }

  private final CheckedMap map;
  private final int threads;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final Condition done = lock.newCondition();

  // Guarded by the lock.
  private final Deque<Piece> waiting = new ArrayDeque<>();
  private int started;
  private boolean stopped;

  MapThreads(CheckedMap map, int threads) {
    this.map = map;
    this.threads = threads;
  }

  void submit(Piece piece) {
    lock.lock();
    try {
      waiting.add(piece);
      if (started < threads) {
        Thread.ofPlatform().daemon().name("tern-map-" + started).start(this::work);
        started++;
      }
      work.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for {@code piece}; its mapped rows, or what mapping them threw. */
  Batch await(Piece piece) {
    lock.lock();
    try {
      while (!piece.done) {
        done.awaitUninterruptibly();
      }
      PrefetchedReader.rethrow(piece.failure);
      return Objects.requireNonNull(piece.mapped);
    } finally {
      lock.unlock();
    }
  }

  /** Waits for the first of {@code pieces} to be done; its place among them. */
  int awaitAny(List<Piece> pieces) {
    lock.lock();
    try {
      while (true) {
        for (int i = 0; i < pieces.size(); i++) {
          if (pieces.get(i).done) {
            return i;
          }
        }
        done.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Gives up a piece that nobody asks for any more; does not wait for it. */
  void drop(Piece piece) {
    lock.lock();
    try {
      piece.dropped = true;
      if (waiting.remove(piece)) {
        piece.raw.close();
      } else if (piece.done) {
        piece.closeMapped();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Has each thread end when it is done with its piece; does not wait for them. */
  void stop() {
    lock.lock();
    try {
      stopped = true;
      work.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void work() {
    for (Piece piece = take(); piece != null; piece = take()) {
      Batch mapped = null;
      Throwable failure = null;
      try {
        mapped = map.apply(piece.raw, piece.epoch, piece.before);
      } catch (Throwable e) {
        failure = e;
      }
      finish(piece, mapped, failure);
    }
  }

  private @Nullable Piece take() {
    lock.lock();
    try {
      while (waiting.isEmpty() && !stopped) {
        work.awaitUninterruptibly();
      }
      return stopped ? null : waiting.remove();
    } finally {
      lock.unlock();
    }
  }

  private void finish(Piece piece, @Nullable Batch mapped, @Nullable Throwable failure) {
    piece.raw.close();
    lock.lock();
    try {
      piece.mapped = mapped;
      piece.failure = failure;
      piece.done = true;
      if (piece.dropped) {
        piece.closeMapped();
      }
      done.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
