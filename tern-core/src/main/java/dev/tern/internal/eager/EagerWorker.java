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
 * The thread of an {@link Eager}: takes commands from a queue of limited length and runs them, one
 * after the other, on an {@link Evaluator}.
 */
final class EagerWorker {
  /** A command on the evaluator; returns why it failed, if it did. */
  interface Task extends Function<Evaluator, Optional<Failure>> {}

  /**
   * @param keeps nodes that must stay reachable until it is done
   * @param done completed with the failure, if any, or exceptionally when the session ends first
   */
  private record Command(
      Task task, List<?> keeps, @Nullable CompletableFuture<Optional<Failure>> done) {}

  /** An idle worker drops values of unreachable nodes this often. */
  private static final int IDLE_MILLIS = 100;

  /** A caller waiting for a place in the queue looks this often whether the session was closed. */
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

  /** The error that ended the thread, if one did; set before {@code closed}. */
  private volatile @Nullable Throwable death;

  private volatile Eager.Counts counts;

  /**
   * @param budget bytes of the allocator for values
   * @param values of nodes; values of unreachable nodes are dropped
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
    counts = new Eager.Counts(0, 0, 0, 0, new Eager.Bytes(0, 0));
    thread = Thread.ofPlatform().daemon().name("tern-session").unstarted(this::serve);
    thread.start();
  }

  /** Queues a task that nobody waits for. */
  void put(Task task, List<?> keeps) {
    enqueue(new Command(task, keeps, null));
  }

  /** Queues a task; the result completes when it is done. */
  CompletableFuture<Optional<Failure>> submit(Task task, List<?> keeps) {
    CompletableFuture<Optional<Failure>> done = new CompletableFuture<>();
    enqueue(new Command(task, keeps, done));
    return done;
  }

  /** Waits until a task is done; throws its failure. */
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
  Eager.Counts counts() {
    return counts;
  }

  /** Ends the thread after the running op, refuses waiting commands and frees the memory. */
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

  /** A call on a session that is closed or died. */
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
      // The worker may never look into the queue again.
      refuse(command);
      if (!thread.isAlive()) {
        refuseAll();
      }
    }
    if (closed && command.done == null) {
      throw new Closed(death);
    }
  }

  /** A condition that a thread waits for. */
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
          counts = evaluator.counts();
        } else {
          run(command, evaluator);
        }
      }
    } catch (InterruptedException _) {
      // No other code has the thread, so nothing interrupts it.
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
      counts = evaluator.counts();
      if (command.done != null) {
        command.done.complete(failure);
      }
    } catch (RuntimeException | Error e) {
      end(e);
      refuse(command);
    }
  }

  /** Ends the session; later calls report {@code thrown} as the cause. */
  private void end(Throwable thrown) {
    if (!closed) {
      death = thrown;
      closed = true;
    }
  }

  /**
   * Values of unreachable nodes, found by a garbage collection. That is slow, so it is for the
   * moment when there is no room otherwise.
   */
  private List<SessionValue> findUnreachable() {
    System.gc();
    List<SessionValue> found = values.removeUnreachable();
    for (int i = 0; found.isEmpty() && i < LOOKS; i++) {
      // A thread of the JVM puts the references into their queue.
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
