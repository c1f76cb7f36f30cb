package dev.tern.internal.table.tier;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;

/**
 * Has the merges of a table's {@link ColdRows} run on a thread beside, one after another. For the
 * thread that changes the table; the other only runs what has begun.
 */
public final class WriteBehind {
  private final ColdRows records;
  private final Executor thread;
  private final ArrayDeque<Pending> queue = new ArrayDeque<>();
  private int rows;

  private record Pending(ColdMerge merge, CompletableFuture<ColdMerge> run) {
    /** Waits until it was run, well or not; whether it failed. */
    boolean fails() {
      run.handle((_, _) -> this).join();
      return run.isCompletedExceptionally();
    }
  }

  /**
   * Nothing.
   *
   * @param thread runs one thing at a time
   */
  public WriteBehind(ColdRows records, Executor thread) {
    this.records = records;
    this.thread = thread;
  }

  /** Rows that are in memory until their merges end. */
  public int rows() {
    return rows;
  }

  /** Has a merge run that has begun. Where no thread can be had, that is a run that failed. */
  public void add(ColdMerge merge) {
    queue.add(submit(merge));
    rows += merge.count();
  }

  private Pending submit(ColdMerge merge) {
    CompletableFuture<ColdMerge> run = new CompletableFuture<>();
    try {
      run.completeAsync(
          () -> {
            records.run(merge);
            return merge;
          },
          thread);
    } catch (RuntimeException | Error e) {
      run.completeExceptionally(e);
    }
    return new Pending(merge, run);
  }

  /**
   * Ends the oldest merge, once it was run. One that failed is run again first, once; where that
   * fails, too, all is as before.
   *
   * @param release takes the numbers of its rows, which are free then
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
    for (int i = 0; i < merge.count(); i++) {
      release.accept(merge.number(i));
    }
  }

  /** Waits until no merge is run, well or not. */
  public void await() {
    queue.forEach(Pending::fails);
  }
}
