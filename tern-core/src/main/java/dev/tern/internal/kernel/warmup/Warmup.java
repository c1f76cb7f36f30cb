package dev.tern.internal.kernel.warmup;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Gets vector code compiled before it is used, by a background thread. The thread runs new code on
 * memory of its own, and hands it over once several rounds allocate nothing: then the JIT has
 * compiled it without boxing. All waiting code runs in turns, so code that the JIT is slow on holds
 * up no other. Code in use may be watched: see {@link BoxingWatch}.
 *
 * <p>There is one queue and one daemon thread for the process, started with the first use. Any
 * thread may {@link #enqueue}; the warm-up thread calls all methods of a {@link Candidate}. The
 * queue holds each candidate once, so the number of kernels bounds it.
 *
 * <p>The system property {@code tern.kernels=eager} uses vector code at once, for tests.
 */
public final class Warmup {
  public static final boolean EAGER = "eager".equals(System.getProperty("tern.kernels"));

  /** What to run. */
  public enum Round {
    /**
     * {@link #ENTRIES} calls of each method that holds loops of vector code, with no rows or with a
     * negative size, at which it returns at once. The JIT compiles what is called often; until it
     * has, a call that works costs a thousand times as much as one that does not.
     */
    ENTRY,

    /** The least work that shows whether most of the code is compiled. */
    PROBE,

    /**
     * A few calls in small sizes, through every branch: the JIT leaves a branch that was never
     * taken to the interpreter.
     */
    SMALL,

    /** A few calls in the sizes of real work. */
    LARGE
  }

  /**
   * Calls of an {@link Round#ENTRY}. C2 does not inline a call, unless the JDK marks it, that comes
   * less than once in 118 times that its method is called ({@code MinInlineFrequencyRatio} of
   * HotSpot): a call in a loop over vectors that stays one boxes them. So each such call must come
   * several times in a {@link Round#SMALL}.
   */
  public static final int ENTRIES = 200;

  /** Code to be compiled. */
  public interface Candidate {
    /**
     * Runs the code on memory of its own. The call must have met several receivers: with one, the
     * JIT would compile the code into the caller only, and other callers would run it in the
     * interpreter.
     */
    void round(Round round);

    /** Takes the code into use. */
    void adopt();

    /** Puts the code into a new class, for a fresh start: see {@link HiddenClasses#copyOf}. */
    void renew();

    /** Number of classes that are tried before {@link #giveUp}. */
    default int attempts() {
      return ATTEMPTS;
    }

    /** Rounds after which the JIT has seen enough of the code and only needs time. */
    default int busyRounds() {
      return BUSY_ROUNDS;
    }

    /**
     * Whether the code is entered between rounds, too. Not if its loops call methods that the JDK
     * does not mark, as these must not become rare: see {@link #ENTRIES}.
     */
    default boolean isEntered() {
      return true;
    }

    /** The code will not be used. */
    void giveUp();

    /**
     * Whether the code is watched once it is in use. If it starts to box for good, {@link
     * #withdraw} and {@link #renew} follow, and the code is run again until it is compiled.
     */
    default boolean isWatched() {
      return false;
    }

    /** Takes the code out of use. */
    default void withdraw() {}
  }

  /** {@link Candidate#busyRounds} of code that is entered between rounds, too. */
  private static final int BUSY_ROUNDS = 25;

  /** A round that allocates fewer bytes counts as one that allocates nothing. */
  private static final long FEW_BYTES = 64;

  private static final long PAUSE_NANOS = 200_000;

  /** Many, as matrix products are slow without vectors. */
  private static final int ATTEMPTS = 20;

  private static final LinkedBlockingQueue<Supplier<Optional<? extends Candidate>>> QUEUE =
      new LinkedBlockingQueue<>();
  private static final AtomicInteger PENDING = new AtomicInteger();

  static {
    Thread.ofPlatform().daemon().name("tern-warmup").start(Warmup::serve);
  }

  private Warmup() {}

  /** Adds a candidate. The warm-up thread has it made; empty if there is nothing to run. */
  public static void enqueue(Supplier<Optional<? extends Candidate>> candidate) {
    PENDING.incrementAndGet();
    QUEUE.add(candidate);
  }

  /**
   * Adds a candidate after a time, for code that was given up: a machine that was too busy to
   * compile it may have a processor to spare then.
   */
  public static void enqueueAfter(
      Duration time, Supplier<Optional<? extends Candidate>> candidate) {
    CompletableFuture.delayedExecutor(time.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
        .execute(() -> enqueue(candidate));
  }

  /** Whether no code waits to be compiled; code that is to be tried again later does not count. */
  public static boolean isIdle() {
    return PENDING.get() == 0;
  }

  private static void serve() {
    List<WarmupRun> drives = new ArrayList<>();
    List<BoxingWatch> watches = new ArrayList<>();
    try {
      while (true) {
        if (drives.isEmpty()) {
          await(watches).ifPresent(next -> admit(next, drives));
        }
        for (var next = QUEUE.poll(); next != null; next = QUEUE.poll()) {
          admit(next, drives);
        }
        look(watches, drives);
        if (!drive(drives, watches) && !drives.isEmpty()) {
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for a new candidate, or until it is time to look at code in use. */
  private static Optional<Supplier<Optional<? extends Candidate>>> await(List<BoxingWatch> watches)
      throws InterruptedException {
    if (watches.isEmpty()) {
      return Optional.of(QUEUE.take());
    }
    long nanos = watches.stream().mapToLong(BoxingWatch::nanos).min().orElseThrow();
    return Optional.ofNullable(QUEUE.poll(Math.max(0, nanos), TimeUnit.NANOSECONDS));
  }

  /** Runs a round of each candidate that is due, of one busy candidate at most; false for none. */
  private static boolean drive(List<WarmupRun> drives, List<BoxingWatch> watches) {
    boolean ran = false;
    boolean busy = false;
    for (WarmupRun drive : List.copyOf(drives)) {
      boolean due = drive.isBusy() ? !busy : drive.isDue();
      busy |= drive.isBusy();
      ran |= due;
      if (due && drive.round(drives.size())) {
        drives.remove(drive);
        PENDING.decrementAndGet();
        if (drive.isAdopted() && drive.candidate().isWatched()) {
          watches.add(new BoxingWatch(drive.candidate()));
        }
      }
    }
    return ran;
  }

  /** Takes code that boxes for good out of use, and runs it anew. */
  private static void look(List<BoxingWatch> watches, List<WarmupRun> drives) {
    for (BoxingWatch watch : List.copyOf(watches)) {
      try {
        if (watch.boxes()) {
          watches.remove(watch);
          watch.candidate().withdraw();
          watch.candidate().renew();
          PENDING.incrementAndGet();
          drives.add(new WarmupRun(watch.candidate()));
        }
      } catch (RuntimeException | Error e) {
        watches.remove(watch);
        log(e);
      }
    }
  }

  /** Runs a round and returns the bytes that it allocated, 0 for fewer than {@link #FEW_BYTES}. */
  static long round(Candidate candidate, Round round) {
    long before = Threads.BEAN.getCurrentThreadAllocatedBytes();
    candidate.round(round);
    long allocated = Threads.BEAN.getCurrentThreadAllocatedBytes() - before;
    return allocated < FEW_BYTES ? 0 : allocated;
  }

  /** Time that this thread has used of a processor; time that it waited for one does not count. */
  static long processorNanos() {
    return Threads.BEAN.isCurrentThreadCpuTimeSupported()
        ? Threads.BEAN.getCurrentThreadCpuTime()
        : System.nanoTime();
  }

  private static void admit(Supplier<Optional<? extends Candidate>> maker, List<WarmupRun> drives) {
    try {
      Optional<? extends Candidate> candidate = maker.get();
      if (candidate.isPresent()) {
        drives.add(new WarmupRun(candidate.get()));
        return;
      }
    } catch (RuntimeException | Error e) {
      log(e);
    }
    PENDING.decrementAndGet();
  }

  static void log(Throwable e) {
    System.getLogger("dev.tern").log(System.Logger.Level.DEBUG, "code stays scalar", e);
  }

  /** Counts the bytes that threads allocate, and their time. */
  private static final class Threads {
    static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  }
}
