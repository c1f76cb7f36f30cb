package dev.tern.base;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A fixed set of compute threads that run the tasks of one job at a time. The caller takes part, so
 * {@code n} threads are the caller and {@code n - 1} daemons. How a job is cut into tasks must not
 * depend on the number of threads; then the results do not depend on it either.
 *
 * <p>Idle threads spin briefly, then park. Callers take turns; a task must not call {@link #run}.
 */
public final class Workers implements AutoCloseable {
  private static final int SPINS = 20_000;

  /** Part of a job: {@code index} is the task's number, {@code worker} which thread runs it. */
  @FunctionalInterface
  public interface Task {
    void run(int index, int worker);
  }

  private final Thread[] threads;

  /** Tasks of the present job that no thread has taken. */
  private final AtomicInteger left = new AtomicInteger();

  private final AtomicInteger done = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean closed;
  private volatile @Nullable Thread caller;
  private Task task = (index, worker) -> {};
  private int tasks;

  private Workers(int threads) {
    this.threads = new Thread[threads - 1];
    for (int i = 0; i < this.threads.length; i++) {
      int worker = i + 1;
      this.threads[i] =
          Thread.ofPlatform().daemon().name("tern-worker-" + worker).unstarted(() -> serve(worker));
    }
    for (Thread thread : this.threads) {
      thread.start();
    }
  }

  /** Workers of {@code threads} threads, the caller among them. */
  public static Workers of(int threads) {
    if (threads < 1 || threads > 1024) {
      throw new IllegalArgumentException(
          "threads: got " + threads + ", expected 1 to 1024; use at most the number of cores");
    }
    return new Workers(threads);
  }

  /** Threads that take part, the caller among them. */
  public int threads() {
    return threads.length + 1;
  }

  /**
   * Runs tasks 0 to {@code tasks - 1} and returns when all are done; rethrows the first failure.
   */
  public void run(int tasks, Task task) {
    if (closed) {
      throw new IllegalStateException("workers: got a job after close; open new workers");
    }
    if (threads.length == 0 || tasks <= 1) {
      for (int i = 0; i < tasks; i++) {
        task.run(i, 0);
      }
    } else {
      runTogether(tasks, task);
    }
  }

  /**
   * The caller waits for tasks, not for threads: a thread that the system runs late finds no task
   * left, and nobody waits for it. A thread that has taken a task may read {@code task} and {@code
   * tasks}, which do not change until it is done.
   */
  private synchronized void runTogether(int tasks, Task task) {
    this.task = task;
    this.tasks = tasks;
    failure.set(null);
    caller = Thread.currentThread();
    done.set(0);
    left.set(tasks);
    for (Thread thread : threads) {
      LockSupport.unpark(thread);
    }
    drain(0);
    for (int spins = 0; done.get() < tasks; spins++) {
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(this, 50_000);
      }
    }
    caller = null;
    rethrow();
  }

  private void rethrow() {
    Throwable thrown = failure.get();
    switch (thrown) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(thrown);
    }
  }

  private void serve(int worker) {
    while (!closed) {
      for (int spins = 0; left.get() == 0 && spins < SPINS; spins++) {
        Thread.onSpinWait();
      }
      while (left.get() == 0 && !closed) {
        LockSupport.park(this);
      }
      if (drain(worker)) {
        LockSupport.unpark(caller);
      }
    }
  }

  /** Runs tasks while there are some; true if one of them was the last of the job to end. */
  private boolean drain(int worker) {
    boolean last = false;
    for (int free = left.get(); free > 0; free = left.get()) {
      if (left.compareAndSet(free, free - 1)) {
        int all = tasks;
        last = done.addAndGet(1 + run(all - free, worker)) == all;
      }
    }
    return last;
  }

  /** Runs one task. After a failure the rest is given up; returns how many tasks these are. */
  private int run(int index, int worker) {
    try {
      task.run(index, worker);
      return 0;
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
      return left.getAndSet(0);
    }
  }

  /** Ends the threads; jobs given later are refused. */
  @Override
  public void close() {
    closed = true;
    for (Thread thread : threads) {
      LockSupport.unpark(thread);
    }
  }

  /** Waits until a thread has ended. An interrupt does not end the wait, but is kept. */
  public static void awaitEnd(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
