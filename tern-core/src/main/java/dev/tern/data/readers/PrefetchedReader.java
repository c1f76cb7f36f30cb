package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.ReaderState;
import dev.tern.data.Schema;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * See {@link Readers#prefetched}. The source belongs to the background thread while {@code filling}
 * or {@code busy}, and to the consumer otherwise. Rows are copied, so that batches of the source
 * are given back by the thread that reads it and the source needs no locks.
 */
final class PrefetchedReader extends PositionedReader {
  private static final long CLOSE_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final DataReader source;
  private final int depth;
  private final BatchPool pool;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // Guarded by the lock.
  private long waited;
  private final Deque<Batch> ready = new ArrayDeque<>();
  private boolean started;
  private boolean filling;
  private boolean busy;
  private boolean ended;
  private boolean closed;

  /** Whether the background thread must close the source. */
  private boolean abandoned;

  private @Nullable Throwable failure;

  PrefetchedReader(DataReader source, int depth) {
    this.source = source;
    this.depth = depth;
    pool = new BatchPool(source.schema(), 1024);
  }

  @Override
  public Schema schema() {
    return source.schema();
  }

  @Override
  protected Optional<Batch> read() {
    lock.lock();
    try {
      if (ready.isEmpty() && !ended && failure == null) {
        resume();
      }
      if (ready.isEmpty() && !ended && failure == null) {
        long start = System.nanoTime();
        while (ready.isEmpty() && !ended && failure == null) {
          changed.awaitUninterruptibly();
        }
        waited += System.nanoTime() - start;
      }
      Batch batch = ready.poll();
      if (batch == null) {
        rethrow(failure);
        return Optional.empty();
      }
      filling = !ended && failure == null;
      changed.signalAll();
      return Optional.of(batch);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long waitedNanos() {
    lock.lock();
    try {
      return waited;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean isReady() {
    lock.lock();
    try {
      return !closed && !ready.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  private void resume() {
    filling = true;
    changed.signalAll();
    if (!started) {
      started = true;
      Thread.ofPlatform().daemon().name("tern-prefetch").start(this::work);
    }
  }

  static void rethrow(@Nullable Throwable failure) {
    switch (failure) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(failure);
    }
  }

  private void work() {
    lock.lock();
    try {
      while (!closed) {
        if (filling && !ended && failure == null && ready.size() < depth) {
          busy = true;
          readOne();
          busy = false;
          changed.signalAll();
        } else {
          changed.awaitUninterruptibly();
        }
      }
      if (abandoned) {
        source.close();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Reads a batch without the lock, which is held before and after. */
  private void readOne() {
    Optional<Batch> read = Optional.empty();
    Throwable thrown = null;
    lock.unlock();
    try {
      read = readCopy();
    } catch (Throwable e) {
      thrown = e;
    }
    lock.lock();
    failure = thrown;
    ended = thrown == null && read.isEmpty();
    read.ifPresent(ready::add);
  }

  private Optional<Batch> readCopy() {
    Batch copy = pool.take();
    try {
      if (source.nextInto(copy)) {
        return Optional.of(copy);
      }
    } catch (Throwable e) {
      copy.close();
      throw e;
    }
    copy.close();
    return Optional.empty();
  }

  /** Takes the source back from the background thread. The lock is held. */
  private void pause() {
    filling = false;
    while (busy) {
      changed.awaitUninterruptibly();
    }
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    lock.lock();
    try {
      pause();
      for (Batch batch = ready.poll(); batch != null; batch = ready.poll()) {
        batch.close();
      }
      ended = false;
      failure = null;
      source.restore(new ReaderState(epoch, 0, order));
    } finally {
      lock.unlock();
    }
  }

  @Override
  protected long pass(long rows) {
    lock.lock();
    try {
      pause();
      long passed = 0;
      for (Batch batch = ready.peek(); batch != null; batch = ready.peek()) {
        if (batch.size() > rows - passed) {
          return passed;
        }
        ready.remove();
        passed += batch.size();
        batch.close();
      }
      boolean more = passed < rows && !ended && failure == null;
      return more ? passed + source.skip(rows - passed) : passed;
    } finally {
      lock.unlock();
    }
  }

  /** {@inheritDoc} Of a source that may have read ahead: what it did so it does again. */
  @Override
  protected PassOrder order() {
    lock.lock();
    try {
      pause();
      return source.state().order();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public OptionalLong rowCount() {
    lock.lock();
    try {
      pause();
      return source.rowCount();
    } finally {
      lock.unlock();
    }
  }

  @Override
  protected void release() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
      abandoned = !awaitIdle();
      if (!abandoned) {
        source.close();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits a while for the read under way; false if it goes on. */
  private boolean awaitIdle() {
    long left = CLOSE_WAIT_NANOS;
    while (busy && left > 0) {
      try {
        left = changed.awaitNanos(left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        left = 0;
      }
    }
    return !busy;
  }
}
