package dev.tern.files;

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
final class Team implements AutoCloseable {
  private final ExecutorService others;
  private final int size;

  /** {@code threads} threads, the caller's being one. */
  Team(int threads) {
    size = threads - 1;
    others =
        Executors.newFixedThreadPool(
            Math.max(1, size), Thread.ofPlatform().daemon().name("tern-column-", 0).factory());
  }

  /**
   * Runs {@code task} for 0 to {@code count - 1}, each once, in any order; returns when all are
   * done. Of what they throw, it throws that of the lowest number: what a loop would.
   */
  void run(int count, IntConsumer task) {
    AtomicInteger next = new AtomicInteger();
    AtomicReferenceArray<Throwable> failures = new AtomicReferenceArray<>(count);
    Runnable work =
        () -> {
          for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
            try {
              task.accept(i);
            } catch (Throwable e) {
              failures.set(i, e);
            }
          }
        };
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      running.add(others.submit(work));
    }
    work.run();
    running.forEach(Team::await);
    for (int i = 0; i < count; i++) {
      switch (failures.get(i)) {
        case null -> {}
        case RuntimeException e -> throw e;
        case Error e -> throw e;
        case Throwable e -> throw new IllegalStateException(e);
      }
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
