package dev.tern.internal.files;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntConsumer;

/** Threads that share out the tasks of one job at a time; whoever gives the job takes part. */
public final class ColumnThreads implements AutoCloseable {
  private final ExecutorService others;
  private final int size;

  /** {@code threads} threads, the caller's being one. */
  public ColumnThreads(int threads) {
    size = threads - 1;
    others =
        Executors.newFixedThreadPool(
            Math.max(1, size), Thread.ofPlatform().daemon().name("tern-column-", 0).factory());
  }

  /**
   * Runs {@code task} for 0 to {@code count - 1}, each once, in any order; returns when all are
   * done. Throws what a loop would, which is what the task of the lowest number throws; of those
   * after it, none begins once it has thrown.
   */
  public void run(int count, IntConsumer task) {
    if (size == 0) {
      for (int i = 0; i < count; i++) {
        task.accept(i);
      }
      return;
    }
    AtomicInteger next = new AtomicInteger();
    AtomicInteger failed =
        new AtomicInteger(count); // numbers are given out upwards: none before is lost
    AtomicReferenceArray<Throwable> failures = new AtomicReferenceArray<>(count);
    Runnable work =
        () -> {
          for (int i = next.getAndIncrement(); i < failed.get(); i = next.getAndIncrement()) {
            try {
              task.accept(i);
            } catch (Throwable e) {
              failures.set(i, e);
              failed.accumulateAndGet(i, Math::min);
            }
          }
        };
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      running.add(others.submit(work));
    }
    work.run();
    running.forEach(ColumnThreads::await);
    if (failed.get() < count) {
      rethrow(failures.get(failed.get()));
    }
  }

  private static void rethrow(Throwable failure) {
    switch (failure) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(failure);
    }
  }

  /** Waits for {@code work}, which shares arrays with the caller, whatever happens. */
  private static void await(Future<?> work) {
    boolean interrupted = false;
    while (true) {
      try {
        work.get();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (ExecutionException e) {
        throw new IllegalStateException(e);
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    others.shutdown();
  }
}
