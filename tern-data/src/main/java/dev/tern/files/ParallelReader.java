package dev.tern.files;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Rows in their order, read by several threads. Each thread has a reader of its own, of which it
 * takes every n-th batch and skips those between, so it is for readers that skip much faster than
 * they read. Batches, and a fault in its place among them, are those of one reader alone.
 */
final class ParallelReader implements DataReader {
  /** Batches that a thread reads ahead. */
  private static final int DEPTH = 2;

  /** Rows that a thread skips before it looks whether anybody still wants it to. */
  private static final long PIECE = 1 << 16;

  private final Supplier<FileSequence> source;
  private final FileSequence first;
  private final int threads;

  /** Rows delivered or skipped in this pass. */
  private long position;

  /**
   * Rows that {@link #first} has passed in this pass; beyond any position where that is unknown.
   */
  private long firstAt;

  /** The threads at work on this pass, from its first batch on. */
  private @Nullable Crew crew;

  private boolean closed;

  /**
   * @param source opens readers of the same rows, which cut them into the same batches
   */
  ParallelReader(Supplier<FileSequence> source, int threads) {
    this.source = source;
    this.threads = threads;
    first = source.get();
  }

  @Override
  public Schema schema() {
    return first.schema();
  }

  @Override
  public Optional<Batch> next() {
    requireOpen();
    if (crew == null) {
      crew = new Crew(position);
    }
    Optional<Batch> next = crew.next();
    next.ifPresent(batch -> position += batch.size());
    return next;
  }

  @Override
  public void start(int epoch) {
    requireOpen();
    stop();
    position = 0;
  }

  /** {@inheritDoc} Goes on where the last skip ended, so many short ones pass each row once. */
  @Override
  public long skip(long rows) {
    requireOpen();
    stop();
    if (firstAt > position) {
      first.start(0);
      firstAt = 0;
    }
    long from = firstAt;
    firstAt = Long.MAX_VALUE; // it is, if one of these throws
    from += first.skip(position - from);
    long skipped = first.skip(rows);
    firstAt = from + skipped;
    position += skipped;
    return skipped;
  }

  private void stop() {
    if (crew != null) {
      crew.stop();
      crew = null;
    }
  }

  @Override
  public OptionalLong rowCount() {
    return first.rowCount();
  }

  @Override
  public void close() {
    closed = true;
    stop();
    first.close();
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("data: got a closed reader; open it again");
    }
  }

  /** Threads that read from one row on; what they have ready is guarded by the lock. */
  private final class Crew {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Lane[] lanes = new Lane[threads];
    private final long start;
    private int turn;
    private volatile boolean stopped;

    Crew(long start) {
      this.start = start;
      for (int i = 0; i < threads; i++) {
        Lane lane = new Lane(i);
        lanes[i] = lane;
        Thread.ofPlatform().daemon().name("tern-read-" + i).start(lane::work);
      }
    }

    /** The next batch, from the thread whose turn it is. */
    Optional<Batch> next() {
      lock.lock();
      try {
        Lane lane = lanes[turn];
        while (lane.ready.isEmpty() && !lane.ended) {
          changed.awaitUninterruptibly();
        }
        Batch batch = lane.ready.poll();
        if (batch == null) {
          lane.rethrow();
          return Optional.empty();
        }
        turn = (turn + 1) % threads;
        changed.signalAll();
        return Optional.of(batch);
      } finally {
        lock.unlock();
      }
    }

    /** Tells the threads to end; each closes its reader when its batch or piece is done. */
    void stop() {
      lock.lock();
      stopped = true;
      changed.signalAll();
      lock.unlock();
    }

    /** One thread and its share. */
    private final class Lane {
      private final int index;
      private final Deque<Batch> ready = new ArrayDeque<>();
      private boolean ended;
      private @Nullable Throwable failure;

      Lane(int index) {
        this.index = index;
      }

      void work() {
        Throwable thrown = null;
        try (FileSequence rows = source.get()) {
          read(rows);
        } catch (Throwable e) {
          thrown = e;
        }
        lock.lock();
        failure = thrown;
        ended = true;
        changed.signalAll();
        lock.unlock();
      }

      private void read(FileSequence rows) {
        long block = rows.batchRows();
        long away = start + index * block;
        while (pass(rows, away)) {
          Optional<Batch> next = rows.next();
          if (next.isEmpty() || !offer(next.get())) {
            return;
          }
          away = (threads - 1) * block;
        }
      }

      /** Skips {@code count} rows; false where there are fewer or nobody wants it any more. */
      private boolean pass(FileSequence rows, long count) {
        for (long left = count; left > 0 && !stopped; left -= PIECE) {
          long piece = Math.min(left, PIECE);
          if (rows.skip(piece) < piece) {
            return false;
          }
        }
        return !stopped;
      }

      /** Puts a batch in line, once there is room; false where nobody wants it any more. */
      private boolean offer(Batch batch) {
        lock.lock();
        try {
          while (ready.size() == DEPTH && !stopped) {
            changed.awaitUninterruptibly();
          }
          ready.add(batch);
          changed.signalAll();
          return !stopped;
        } finally {
          lock.unlock();
        }
      }

      private void rethrow() {
        switch (failure) {
          case null -> {}
          case RuntimeException e -> throw e;
          case Error e -> throw e;
          default -> throw new IllegalStateException(failure);
        }
      }
    }
  }
}
