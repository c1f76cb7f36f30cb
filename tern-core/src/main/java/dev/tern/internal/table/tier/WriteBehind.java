package dev.tern.internal.table.tier;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;

/**
 * Runs the merges of a table's {@link ColdRows} one after another on another thread. All methods
 * are for the thread that changes the table.
 */
public final class WriteBehind {
  private final ColdRows records;
  private final Executor thread;
  private final ArrayDeque<Pending> queue = new ArrayDeque<>();
  private int rows;

  private record Pending(ColdMerge merge, CompletableFuture<Void> run) {
    /** Waits until the merge was run; returns whether the run failed. */
    boolean fails() {
      run.handle((_, _) -> this).join();
      return run.isCompletedExceptionally();
    }
  }

  /**
   * No merges.
   *
   * @param thread runs one task at a time
   */
  public WriteBehind(ColdRows records, Executor thread) {
    this.records = records;
    this.thread = thread;
  }

  ColdRows records() {
    return records;
  }

  /** Rows that are in memory until their merges end. */
  public int rows() {
    return rows;
  }

  /** Submits a merge that has begun. If no thread can be started, the run counts as failed. */
  public void add(ColdMerge merge) {
    queue.add(submit(merge));
    rows += merge.count();
  }

  private Pending submit(ColdMerge merge) {
    CompletableFuture<Void> run;
    try {
      run = CompletableFuture.runAsync(() -> records.run(merge), thread);
    } catch (RuntimeException | Error e) {
      run = CompletableFuture.failedFuture(e);
    }
    return new Pending(merge, run);
  }

  /**
   * Waits until the oldest merge was run, and ends it. A run that failed is repeated once; if it
   * fails again, this throws its error and the merge stays.
   *
   * @param release takes the numbers of the rows that are free now
   */
  public void endFirst(IntConsumer release) {
    ColdMerge merge = queue.element().merge;
    if (queue.element().fails()) {
      Pending again = submit(merge);
      queue.remove();
      queue.addFirst(again);
      if (again.fails()) {
        switch (again.run.exceptionNow()) {
          case RuntimeException failure -> throw failure;
          case Error failure -> throw failure;
          case Throwable failure -> throw new IllegalStateException(failure);
        }
      }
    }
    queue.remove();
    records.end(merge);
    rows -= merge.count();
    for (int number : merge.rows().numbers()) {
      release.accept(number);
    }
  }

  /** Waits until all merges were run, even those that fail. */
  public void await() {
    queue.forEach(Pending::fails);
  }
}
