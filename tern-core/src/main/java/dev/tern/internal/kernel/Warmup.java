package dev.tern.internal.kernel;

import com.sun.management.ThreadMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Gets vector code compiled before it is used. Until the JIT's last tier has compiled it, a loop of
 * Vector API calls boxes every vector and runs a hundred times slower than scalar code, so a
 * background thread drives new code on memory of its own and hands it over once several rounds
 * allocate nothing. All that waits is driven in turns: what the JIT takes long over holds up
 * nobody.
 *
 * <p>The system property {@code tern.kernels=eager} uses vector code at once, for tests.
 */
final class Warmup {
  static final boolean EAGER = "eager".equals(System.getProperty("tern.kernels"));

  /** Code to be compiled. */
  interface Candidate {
    /**
     * Runs the code once or a few times on memory of its own, by a call that has met several
     * receivers: with one the JIT would compile the code into the caller, and leave those that
     * others call to the interpreter.
     *
     * @param large whether in the sizes of work; else small, but through every branch: the JIT
     *     leaves a branch that it never saw taken to the interpreter
     */
    void round(boolean large);

    /** Takes the code into use. */
    void adopt();

    /** Puts the code into a new class: see {@link FreshCode}. */
    void renew();

    /** Times that it is tried before {@link #giveUp}. */
    default int attempts() {
      return ATTEMPTS;
    }

    /** Rounds after which the JIT has seen enough and only needs time. */
    default int busyRounds() {
      return BUSY_ROUNDS;
    }

    /** Says that the code will not be used. */
    void giveUp();
  }

  /** Bytes that a round may allocate, by other doings of the thread. */
  private static final long FEW_BYTES = 64;

  /**
   * Quiet rounds in a row after which the code is taken to be compiled; all but the first large.
   */
  private static final int QUIET = 4;

  /** Of code whose rounds take long. */
  private static final int BUSY_ROUNDS = 300;

  /** Of few short loops. */
  static final int MANY_ROUNDS = 1200;

  /**
   * Between two looks whether code is compiled. What is called much less often than it was the JIT
   * takes off its list of what to compile ({@code CompilationPolicy::is_stale} of HotSpot).
   */
  private static final long POLL_NANOS = 500_000;

  /** As long; then looks are rare, for code that may box for good is not to take a processor. */
  private static final long STEADY_NANOS = 2_000_000_000L;

  private static final long RARE_NANOS = 10_000_000;

  private static final long PAUSE_NANOS = 200_000;

  /** Without anything from the JIT: then it is taken to be done, with the code boxing for good. */
  private static final long PATIENCE_NANOS = 6_000_000_000L;

  /** At most, while the JIT is kept busy by other code, or has too little of a processor. */
  private static final long MOST_PATIENCE_NANOS = 30_000_000_000L;

  /**
   * As long, what a round allocates having become less but staying the same since: then a part is
   * compiled such that it boxes for good, however busy the JIT is with other code. Twice as long
   * for each further attempt, lest a slow machine never gets through.
   */
  private static final long STUCK_NANOS = 600_000_000L;

  /** Matrix products hardly go without. */
  private static final int ATTEMPTS = 20;

  private static final LinkedBlockingQueue<Supplier<Optional<? extends Candidate>>> QUEUE =
      new LinkedBlockingQueue<>();
  private static final AtomicInteger PENDING = new AtomicInteger();

  static {
    Thread.ofPlatform().daemon().name("tern-warmup").start(Warmup::serve);
  }

  private Warmup() {}

  /** Has a candidate driven, which the warm-up thread makes; nothing if there is none after all. */
  static void enqueue(Supplier<Optional<? extends Candidate>> candidate) {
    PENDING.incrementAndGet();
    QUEUE.add(candidate);
  }

  /** Whether nothing waits. */
  static boolean isIdle() {
    return PENDING.get() == 0;
  }

  private static void serve() {
    ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    List<Drive> drives = new ArrayList<>();
    try {
      while (true) {
        if (drives.isEmpty()) {
          admit(QUEUE.take(), drives);
        }
        for (var next = QUEUE.poll(); next != null; next = QUEUE.poll()) {
          admit(next, drives);
        }
        boolean ran = false;
        boolean busy = false;
        for (Drive drive : List.copyOf(drives)) {
          boolean due = drive.isBusy() ? !busy : drive.isDue();
          busy |= drive.isBusy();
          ran |= due;
          if (due && drive.round(bean)) {
            drives.remove(drive);
            PENDING.decrementAndGet();
          }
        }
        if (!ran) {
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void admit(Supplier<Optional<? extends Candidate>> maker, List<Drive> drives) {
    try {
      Optional<? extends Candidate> candidate = maker.get();
      if (candidate.isPresent()) {
        drives.add(new Drive(candidate.get()));
        return;
      }
    } catch (RuntimeException | Error e) {
      log(e);
    }
    PENDING.decrementAndGet();
  }

  private static void log(Throwable e) {
    System.getLogger("dev.tern").log(System.Logger.Level.DEBUG, "code stays scalar", e);
  }

  /** How far a candidate has come. */
  private static final class Drive {
    private final Candidate candidate;
    private int rounds;
    private int quiet;
    private int attempts;
    private long started = System.nanoTime();
    private long due;

    /** What the JIT had done at the last look, and when it had done more than before. */
    private long jitMillis;

    private long jitMoved = started;

    /** What a round allocated: the first of this attempt, and the last, the same since a time. */
    private long allocatedFirst;

    private long allocatedLast;
    private long allocatedSince;

    Drive(Candidate candidate) {
      this.candidate = candidate;
    }

    /** Whether the JIT has still to see more of it. */
    boolean isBusy() {
      return rounds < candidate.busyRounds();
    }

    /** Whether it is time to see whether it is compiled. */
    boolean isDue() {
      return quiet > 0 || System.nanoTime() >= due;
    }

    private boolean mayYetBeCompiled(long now) {
      long millis = Jit.millis();
      if (millis != jitMillis) {
        jitMillis = millis;
        jitMoved = now;
      }
      return now - Math.max(started, jitMoved) < PATIENCE_NANOS
          && now - started < MOST_PATIENCE_NANOS
          && !isStuck(now);
    }

    private boolean isStuck(long now) {
      return !isBusy()
          && allocatedLast < allocatedFirst
          && now - allocatedSince > STUCK_NANOS << Math.min(attempts, 4);
    }

    private void note(long allocated) {
      long now = System.nanoTime();
      if (rounds == 0) {
        allocatedFirst = allocated;
      }
      if (rounds == 0 || allocated != allocatedLast) {
        allocatedLast = allocated;
        allocatedSince = now;
      }
    }

    /** Drives the candidate on; true when done with it. */
    boolean round(ThreadMXBean bean) {
      long start = System.nanoTime();
      try {
        long before = bean.getCurrentThreadAllocatedBytes();
        candidate.round(quiet > 0);
        long allocated = bean.getCurrentThreadAllocatedBytes() - before;
        note(allocated);
        rounds++;
        quiet = allocated < FEW_BYTES ? quiet + 1 : 0;
        if (quiet >= QUIET) {
          candidate.adopt();
          return true;
        }
        long now = System.nanoTime();
        boolean steady = now - started < STEADY_NANOS;
        due = now + (steady ? now - start + POLL_NANOS : 4 * (now - start) + RARE_NANOS);
        if (isBusy()) {
          started = now;
        }
        if (mayYetBeCompiled(now)) {
          return false;
        }
        rounds = 0;
        quiet = 0;
        started = now;
        if (++attempts < candidate.attempts()) {
          candidate.renew();
          return false;
        }
        candidate.giveUp();
        return true;
      } catch (RuntimeException | Error e) {
        log(e);
        candidate.giveUp();
        return true;
      }
    }
  }

  /** The compilers of this process. */
  private static final class Jit {
    private static final Optional<CompilationMXBean> BEAN =
        Optional.ofNullable(ManagementFactory.getCompilationMXBean())
            .filter(CompilationMXBean::isCompilationTimeMonitoringSupported);

    /** Time that they took for what they have finished. */
    static long millis() {
      return BEAN.map(CompilationMXBean::getTotalCompilationTime).orElse(0L);
    }
  }
}
