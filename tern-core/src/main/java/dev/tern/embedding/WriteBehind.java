package dev.tern.embedding;

import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;

/**
 * Has the merges of a table's {@link ColdRows} run on a thread beside, one after another. For the
 * thread that changes the table; the other only runs what has begun.
 */
final class WriteBehind {
  private final ColdRows records;
  private final Executor thread;
  private final ArrayDeque<Pending> queue = new ArrayDeque<>();
  private int rows;

  private record Pending(ColdMerge merge, CompletableFuture<Void> run) {}

  /**
   * Nothing.
   *
   * @param thread runs one thing at a time
   */
  WriteBehind(ColdRows records, Executor thread) {
    this.records = records;
    this.thread = thread;
  }

  /** Rows that are in memory until their merges end. */
  int rows() {
    return rows;
  }

  /** Has a merge run that has begun; that it cannot be run shows at its end. */
  void add(ColdMerge merge) {
    queue.add(submit(merge));
    rows += merge.count();
  }

  private Pending submit(ColdMerge merge) {
    try {
      return new Pending(merge, CompletableFuture.runAsync(() -> records.run(merge), thread));
    } catch (RuntimeException | Error e) { // Where there can be no thread, say.
      return new Pending(merge, CompletableFuture.failedFuture(e));
    }
  }

  /**
   * Ends the oldest merge, once it was run. One that failed is run again first; where that fails,
   * too, all is as before.
   *
   * @param release takes the numbers of its rows, which are free then
   */
  void endFirst(IntConsumer release) {
    Pending first = queue.remove();
    if (first.run.isCompletedExceptionally()) {
      first = submit(first.merge);
    }
    queue.addFirst(first);
    try {
      first.run.join();
    } catch (CompletionException e) {
      switch (Objects.requireNonNull(e.getCause())) {
        case RuntimeException failure -> throw failure;
        case Error failure -> throw failure;
        default -> throw e;
      }
    }
    queue.remove();
    ColdMerge merge = first.merge;
    records.end(merge);
    rows -= merge.count();
    for (int i = 0; i < merge.count(); i++) {
      release.accept(merge.number(i));
    }
  }

  /** Waits until no merge is run, well or not. */
  void await() {
    queue.forEach(each -> each.run.exceptionally(_ -> null).join());
  }
}
