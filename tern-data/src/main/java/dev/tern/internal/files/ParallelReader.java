package dev.tern.internal.files;

import dev.tern.data.Batch;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.Reading;
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
 * they read. Batches, and a fault in its place among them, are those of one reader alone. The
 * readers only go forward within a pass, whatever is skipped.
 */
final class ParallelReader extends PositionedReader {
  /** Batches that a thread reads ahead. */
  private static final int DEPTH = 2;

  /** Rows that a thread skips before it looks whether anybody still wants it to. */
  private static final long PIECE = 1 << 16;

  private final Supplier<FileSequence> source;
  private final FileSequence first;
  private final int threads;

  /** Rows taken or skipped in this pass. */
  private long position;

  /**
   * Rows that {@link #first} has passed in this pass; beyond any position where that is unknown.
   */
  private long firstAt;

  /** The threads, from the first batch on. */
  private @Nullable Crew crew;

  /** Whether the threads read elsewhere than at the position. */
  private boolean astray;

  /** Whether a skip met the end of the pass. */
  private boolean ended;

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
  public Optional<Reading> reading() {
    return first.reading();
  }

  @Override
  protected Optional<Batch> read() {
    if (ended) {
      return Optional.empty();
    }
    if (crew == null) {
      crew = new Crew(position);
    } else if (astray) {
      crew.move(position);
    }
    astray = false;
    Optional<Batch> next = crew.next();
    next.ifPresent(batch -> position += batch.size());
    return next;
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    position = 0;
    astray = true;
    ended = false;
  }

  /** {@inheritDoc} Leaves alone what the threads are about to have read. */
  @Override
  protected long pass(long rows) {
    if (crew != null && !astray && rows <= (long) threads * DEPTH * first.batchRows()) {
      return 0;
    }
    astray = true;
    if (firstAt > position) {
      first.start(0);
      firstAt = 0;
    }
    long from = firstAt;
    firstAt = Long.MAX_VALUE; // it is, if one of these throws
    from += first.skip(position - from);
    long passed = first.skip(rows);
    firstAt = from + passed;
    position += passed;
    ended = passed < rows;
    return passed;
  }

  @Override
  public OptionalLong rowCount() {
    return first.rowCount();
  }

  @Override
  protected void release() {
    if (crew != null) {
      crew.stop();
    }
    first.close();
  }

  /** Threads that read from one row on; what they have ready is guarded by the lock. */
  private final class Crew {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Lane[] lanes = new Lane[threads];
    private final int block = first.batchRows();
    private long start;
    private int turn;

    /** Another one since each move. */
    private volatile Object round = new Object();

    private volatile boolean stopped;

    Crew(long start) {
      this.start = start;
      for (int i = 0; i < threads; i++) {
        Lane lane = new Lane(i);
        lanes[i] = lane;
        Thread.ofPlatform().daemon().name("tern-read-" + i).start(lane::work);
      }
    }

    /** Has them read from row {@code start} on. */
    void move(long start) {
      lock.lock();
      this.start = start;
      round = new Object();
      turn = 0;
      for (Lane lane : lanes) {
        lane.clear();
      }
      changed.signalAll();
      lock.unlock();
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

      /** The thread's own reader, once it is open. */
      private @Nullable FileSequence rows;

      /** Rows that it has passed in the pass; beyond any place where that is unknown. */
      private long at;

      Lane(int index) {
        this.index = index;
      }

      /** Forgets what was read. The lock is held. */
      void clear() {
        ready.forEach(Batch::close);
        ready.clear();
        ended = false;
        failure = null;
      }

      void work() {
        lock.lock();
        try {
          Object own = round;
          long place = start + (long) index * block;
          while (!stopped) {
            if (own != round) {
              own = round;
              place = start + (long) index * block;
            } else if (ended || ready.size() == DEPTH) {
              changed.awaitUninterruptibly();
            } else {
              readOne(own, place);
              place += (long) threads * block;
            }
          }
        } finally {
          lock.unlock();
        }
        if (rows != null) {
          rows.close();
        }
      }

      /** Reads the batch at row {@code place} without the lock, which is held before and after. */
      private void readOne(Object own, long place) {
        Optional<Batch> next = Optional.empty();
        Throwable thrown = null;
        lock.unlock();
        try {
          next = read(own, place);
        } catch (Throwable e) {
          thrown = e;
        }
        lock.lock();
        if (own != round) {
          next.ifPresent(Batch::close);
          return;
        }
        next.ifPresent(ready::add);
        failure = thrown;
        ended = next.isEmpty();
        changed.signalAll();
      }

      private Optional<Batch> read(Object own, long place) {
        FileSequence reader = rows == null ? source.get() : rows;
        rows = reader;
        if (at > place) {
          reader.start(0);
          at = 0;
        }
        long from = at;
        at = Long.MAX_VALUE; // it is, if one of these throws
        while (from < place && own == round && !stopped) {
          long piece = Math.min(place - from, PIECE);
          long skipped = reader.skip(piece);
          from += skipped;
          if (skipped < piece) {
            at = from;
            return Optional.empty();
          }
        }
        Optional<Batch> next =
            from == place && own == round && !stopped ? reader.next() : Optional.empty();
        at = from + next.map(Batch::size).orElse(0);
        return next;
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
