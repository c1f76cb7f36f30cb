package dev.tern.internal.eager;

import dev.tern.base.Workers;
import dev.tern.internal.memory.Allocator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The thread of an {@link Eager}, which has an {@link Evaluator} do one thing after the other, and
 * the queue of limited length before it.
 */
final class EagerWorker {
  /** What to do; says why it could not be done. */
  interface Task extends Function<Evaluator, Optional<Failure>> {}

  /**
   * @param keeps nodes that must be reachable until it is done
   * @param done completed with why it could not be done, or by an exception when it never will be
   */
  private record Command(
      Task task, List<?> keeps, @Nullable CompletableFuture<Optional<Failure>> done) {}

  /** How soon values of unreachable nodes go when there is nothing to do. */
  private static final int IDLE_MILLIS = 100;

  /** How soon one who waits for a place in the queue sees that the session was closed. */
  private static final int PUT_MILLIS = 20;

  private static final int LOOKS = 50;

  private final Workers workers;
  private final Allocator allocator;
  private final long budget;
  private final long memory;
  private final NodeValues values;
  private final BlockingQueue<Command> queue;
  private final Thread thread;
  private volatile boolean closed;

  /** What ended the thread, unless a caller did; set before {@code closed}. */
  private volatile @Nullable Throwable death;

  private volatile Eager.Statistics statistics;

  /**
   * @param budget bytes of the allocator for values
   * @param values of nodes; those of unreachable ones are given up
   * @param queued most commands that wait
   */
  EagerWorker(Workers workers, Allocator allocator, long budget, NodeValues values, int queued) {
    if (queued < 1) {
      throw new IllegalArgumentException(
          "session: got a queue of " + queued + " ops, expected at least 1; 10000 is usual");
    }
    this.workers = workers;
    this.allocator = allocator;
    this.budget = budget;
    this.values = values;
    queue = new ArrayBlockingQueue<>(queued);
    memory = allocator.allocate(budget, "session");
    statistics = new Eager.Statistics(0, 0, 0, 0, 0, budget, 0);
    thread = Thread.ofPlatform().daemon().name("tern-session").unstarted(this::serve);
    thread.start();
  }

  /** Has something done in turn, for which nobody waits. */
  void put(Task task, List<?> keeps) {
    enqueue(new Command(task, keeps, null));
  }

  /** Has something done in turn, to be waited for. */
  CompletableFuture<Optional<Failure>> submit(Task task, List<?> keeps) {
    CompletableFuture<Optional<Failure>> done = new CompletableFuture<>();
    enqueue(new Command(task, keeps, done));
    return done;
  }

  /** Waits until it is done; throws why it could not be. */
  static void await(CompletableFuture<Optional<Failure>> done) {
    Optional<Failure> failure;
    try {
      failure = done.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof Closed closed ? new Closed(closed.getCause()) : e;
    }
    if (failure.isPresent()) {
      throw failure.get().exception();
    }
  }

  /** As of the last command. */
  Eager.Statistics statistics() {
    return statistics;
  }

  /** Ends the thread after the op that runs; what waits is refused, memory freed. */
  void close() {
    closed = true;
    queue.offer(new Command(_ -> Optional.empty(), List.of(), null));
    awaitEnd();
  }

  /** Waits until the thread of a closed worker has ended: no op runs any more. */
  void awaitEnd() {
    uninterrupted(() -> {
      thread.join();
      return true;
    });
  }

  /** What was asked of a closed session. */
  static final class Closed extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /**
     * @param death what ended it, unless it was closed
     */
    Closed(@Nullable Throwable death) {
      super(
          death == null
              ? "session: got a closed one, expected an open one; close it after its last user"
              : "session: got one that ended at an error of its own (%s), expected an open one; see"
                      .formatted(death)
                  + " the cause, and open another",
          death);
    }
  }

  private void enqueue(Command command) {
    uninterrupted(() -> closed || queue.offer(command, PUT_MILLIS, TimeUnit.MILLISECONDS));
    if (closed) {
      // The worker may have looked into the queue for the last time.
      refuse(command);
      if (!thread.isAlive()) {
        refuseAll();
      }
    }
    if (closed && command.done == null) {
      throw new Closed(death);
    }
  }

  /** Waits for something. */
  private interface Wait {
    boolean isOver() throws InterruptedException;
  }

  private static void uninterrupted(Wait wait) {
    boolean isInterrupted = false;
    for (boolean isOver = false; !isOver; ) {
      try {
        isOver = wait.isOver();
      } catch (InterruptedException _) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void serve() {
    try {
      Evaluator evaluator =
          new Evaluator(workers, memory, budget, () -> closed, this::findUnreachable);
      while (!closed) {
        Command command = queue.poll(IDLE_MILLIS, TimeUnit.MILLISECONDS);
        values.removeUnreachable().forEach(evaluator::release);
        if (command == null) {
          statistics = evaluator.statistics();
        } else {
          run(command, evaluator);
        }
      }
    } catch (InterruptedException _) {
      // Nobody has the thread to interrupt it.
    } catch (RuntimeException | Error e) {
      end(e);
    } finally {
      closed = true;
      refuseAll();
      allocator.free(memory);
    }
  }

  private void run(Command command, Evaluator evaluator) {
    try {
      Optional<Failure> failure = command.task.apply(evaluator);
      statistics = evaluator.statistics();
      if (command.done != null) {
        command.done.complete(failure);
      }
    } catch (RuntimeException | Error e) {
      end(e);
      refuse(command);
    }
  }

  /** Has those who call from here on get to know why. */
  private void end(Throwable thrown) {
    if (!closed) {
      death = thrown;
      closed = true;
    }
  }

  /**
   * Values of nodes that nobody can reach, for which it has the JVM look: when there is no room,
   * and only then, that pays.
   */
  private List<SessionValue> findUnreachable() {
    System.gc();
    List<SessionValue> found = values.removeUnreachable();
    for (int i = 0; found.isEmpty() && i < LOOKS; i++) {
      // They are told of by another thread.
      LockSupport.parkNanos(1_000_000);
      found = values.removeUnreachable();
    }
    return found;
  }

  private void refuseAll() {
    for (Command command = queue.poll(); command != null; command = queue.poll()) {
      refuse(command);
    }
  }

  private void refuse(Command command) {
    if (command.done != null) {
      command.done.completeExceptionally(new Closed(death));
    }
  }
}
