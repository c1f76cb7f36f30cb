package dev.tern.serve.http;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;

/**
 * Lets so many requests be computed at once and so many wait, each for a short time. A server that
 * took all would answer all of them too late.
 */
final class Admission {
  /** A request whose body is there. */
  interface Request {
    /**
     * Computes and answers.
     *
     * @param brief whether it runs on a thread that reads connections, which has no time for what
     *     takes long
     * @return whether it takes long and nothing was answered: then it is called again, not brief,
     *     on another thread
     */
    boolean run(boolean brief);

    /** Answers that there is no room: {@code isFull} or it waited for too long. */
    void refuse(boolean isFull);
  }

  private record Waiting(Request request, boolean isLong, long deadline) {}

  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

  private final int most;
  private final int room;
  private final long patience;
  private final Executor threads;
  private final LongSupplier nanos;
  private final ArrayDeque<Waiting> queue = new ArrayDeque<>();
  private int running;

  /** Of those that run, the ones that take long: each holds working memory of a processor. */
  private int longRunning;

  /**
   * @param threads run requests that had to wait
   * @param nanos a clock
   */
  Admission(ServeLimits limits, Executor threads, LongSupplier nanos) {
    most = limits.inFlight();
    room = limits.queue();
    patience = limits.queueTime().toNanos();
    this.threads = threads;
    this.nanos = nanos;
  }

  /** Whether a request that comes now is refused, so that its body need not be read. */
  synchronized boolean isFull() {
    return running >= most && queue.size() >= room;
  }

  /** Requests that wait. */
  synchronized int waiting() {
    return queue.size();
  }

  /** Requests that are computed. */
  synchronized int running() {
    return running;
  }

  /**
   * Runs {@code request} if there is room, has it wait, or refuses it.
   *
   * @param here whether it takes so little that it runs on this thread rather than on another,
   *     unless so many run that take long that it might have to wait for working memory
   */
  void submit(Request request, boolean here) {
    boolean runs;
    boolean isCrowded;
    synchronized (this) {
      runs = running < most;
      isCrowded = longRunning >= PROCESSORS;
      if (runs) {
        running++;
        longRunning += here ? 0 : 1;
      } else if (queue.size() < room) {
        queue.add(new Waiting(request, !here, nanos.getAsLong() + patience));
        return;
      }
    }
    if (!runs) {
      request.refuse(true);
    } else if (here && !isCrowded) {
      run(request, false, true);
    } else {
      runElsewhere(request, !here);
    }
  }

  /** Takes a request that waits out of the queue: nobody waits for its answer any more. */
  synchronized void withdraw(Request request) {
    queue.removeIf(waiting -> waiting.request() == request);
  }

  private void runElsewhere(Request request, boolean isLong) {
    try {
      threads.execute(() -> run(request, isLong, false));
    } catch (RejectedExecutionException _) {
      synchronized (this) {
        running--;
        longRunning -= isLong ? 1 : 0;
      }
      request.refuse(false); // The server ends.
    }
  }

  private void run(Request request, boolean isLong, boolean brief) {
    boolean goesOn = false;
    try {
      goesOn = request.run(brief);
    } finally {
      if (!goesOn) {
        next(isLong);
      }
    }
    if (goesOn) { // It keeps its place.
      synchronized (this) {
        longRunning += isLong ? 0 : 1;
      }
      runElsewhere(request, true);
    }
  }

  /** Gives the place of a request that ended to the first that waits. */
  private void next(boolean wasLong) {
    expire();
    Waiting first;
    synchronized (this) {
      longRunning -= wasLong ? 1 : 0;
      first = queue.poll();
      if (first == null) {
        running--;
        return;
      }
      longRunning += first.isLong() ? 1 : 0;
    }
    runElsewhere(first.request(), first.isLong());
  }

  /** Refuses what waited for too long. Called from time to time, as all that run may be slow. */
  void expire() {
    List<Request> late = new ArrayList<>();
    synchronized (this) {
      if (queue.isEmpty()) {
        return;
      }
      long now = nanos.getAsLong();
      for (Waiting first = queue.peek();
          first != null && first.deadline() - now < 0;
          first = queue.peek()) {
        late.add(queue.remove().request());
      }
    }
    late.forEach(request -> request.refuse(false));
  }
}
