package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * See {@link Readers#prefetched}. A thread of its own reads the source, a batch a task. The
 * consumer's thread uses the source only while no task is queued or under way. Rows are copied: so
 * the thread that reads the source also gives its batches back, and the source needs no locks.
 */
final class PrefetchedReader extends DerivedReader {
  private final int depth;
  private final BatchPool pool;
  private final ThreadPoolExecutor thread = crew(1, Thread.ofPlatform().name("tern-prefetch"));

  /** Reads in order: the first are done, then one is under way, the last are queued. */
  private final Deque<CompletableFuture<Optional<Batch>>> ahead = new ArrayDeque<>();

  /** Whether the source has ended or failed, and is not to be read until the next start. */
  private boolean ended;

  /** What the source threw. */
  private @Nullable Throwable failure;

  private long waited;

  PrefetchedReader(DataReader source, int depth) {
    super(source);
    this.depth = depth;
    pool = new BatchPool(source.schema(), 1024);
  }

  @Override
  protected Optional<Batch> read() {
    readAhead();
    CompletableFuture<Optional<Batch>> first = ahead.element();
    if (!first.isDone()) {
      long start = System.nanoTime();
      await(first);
      waited += System.nanoTime() - start;
    }
    Optional<Batch> next = first.join();
    if (next.isPresent()) {
      ahead.remove();
      readAhead();
    } else {
      rethrow(failure); // and again in each later call, as the empty result stays in front
    }
    return next;
  }

  private void readAhead() {
    while (ahead.size() < depth) {
      ahead.add(CompletableFuture.supplyAsync(this::readSource, thread));
    }
  }

  private Optional<Batch> readSource() {
    if (ended) {
      return Optional.empty();
    }
    Batch copy = pool.take();
    try {
      ended = !source.nextInto(copy);
    } catch (Throwable e) {
      failure = e;
      ended = true;
    }
    if (ended) {
      copy.close();
      return Optional.empty();
    }
    return Optional.of(copy);
  }

  @Override
  public long waitedNanos() {
    return waited;
  }

  @Override
  public boolean isReady() {
    return ready().isPresent();
  }

  /** The next batch, if it was read by now. */
  private Optional<Batch> ready() {
    CompletableFuture<Optional<Batch>> first = ahead.peek();
    return first != null && first.state() == Future.State.SUCCESS
        ? first.resultNow()
        : Optional.empty();
  }

  /** Takes the source back: drops queued reads, and waits for the one under way. */
  private void pause() {
    dropQueued();
    if (!ahead.isEmpty()) {
      await(ahead.getLast());
    }
  }

  private void dropQueued() {
    List<Runnable> queued = new ArrayList<>();
    thread.getQueue().drainTo(queued);
    queued.forEach(_ -> ahead.removeLast());
  }

  /** Daemons, each started with its first task, and a queue from which tasks can be taken back. */
  static ThreadPoolExecutor crew(int threads, Thread.Builder.OfPlatform thread) {
    return new ThreadPoolExecutor(
        threads,
        threads,
        0,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        thread.daemon().factory());
  }

  /** Waits until {@code work} has ended, well or not; an interrupt does not shorten the wait. */
  static void await(CompletableFuture<?> work) {
    work.handle((_, _) -> true).join();
  }

  /** Throws {@code failure}, if there is one. */
  static void rethrow(@Nullable Throwable failure) {
    switch (failure) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(failure);
    }
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    pause();
    for (Optional<Batch> next = ready(); next.isPresent(); next = ready()) {
      ahead.remove();
      next.get().close();
    }
    ahead.clear();
    ended = false;
    failure = null;
    super.begin(epoch, order);
  }

  @Override
  protected long pass(long rows) {
    pause();
    long passed = 0;
    for (Optional<Batch> next = ready(); next.isPresent(); next = ready()) {
      int size = next.get().size();
      if (size > rows - passed) {
        return passed;
      }
      ahead.remove();
      next.get().close();
      passed += size;
    }
    return passed < rows && !ended ? passed + source.skip(rows - passed) : passed;
  }

  /** The order of the source, which may have read ahead; a restored source does so again. */
  @Override
  protected PassOrder order() {
    pause();
    return super.order();
  }

  @Override
  public OptionalLong rowCount() {
    pause();
    return super.rowCount();
  }

  /**
   * Leaves the source to the thread if a read is under way, and waits for it up to a second or
   * until an interrupt.
   */
  @Override
  protected void release() {
    dropQueued();
    boolean idle = ahead.isEmpty() || ahead.getLast().isDone();
    ahead.clear();
    if (idle) {
      thread.shutdown();
      source.close();
    } else {
      CompletableFuture<Void> closing = CompletableFuture.runAsync(source::close, thread);
      thread.shutdown();
      try {
        closing.get(1, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        rethrow(e.getCause());
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
        closing.whenComplete((_, failure) -> report(failure));
      } catch (TimeoutException _) {
        closing.whenComplete((_, failure) -> report(failure));
      }
    }
  }

  /** Reports a failure that no caller waits for any more. */
  private static void report(@Nullable Throwable failure) {
    Thread thread = Thread.currentThread();
    if (failure != null) {
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
    }
  }
}
