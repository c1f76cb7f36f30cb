package dev.tern.internal.kernel.warmup;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/** How far a candidate of {@link Warmup} has come. */
final class WarmupRun {
  /**
   * Quiet rounds in a row after which the code is taken to be compiled; all but the first large.
   */
  private static final int QUIET = 4;

  /**
   * Between two looks whether code is compiled. What is called much less often than it was the JIT
   * takes off its list of what to compile ({@code CompilationPolicy::is_stale} of HotSpot).
   */
  private static final long POLL_NANOS = 500_000;

  /** As long; then looks are rare, for code that may box for good is not to take a processor. */
  private static final long STEADY_NANOS = 2_000_000_000L;

  private static final long RARE_NANOS = 10_000_000;

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

  private final Warmup.Candidate candidate;
  private int rounds;
  private int quiet;
  private int attempts;
  private boolean adopted;
  private long started = System.nanoTime();
  private long due;

  /** What the JIT had done at the last look, and when it had done more than before. */
  private long jitMillis;

  private long jitMoved = started;

  /** What a round allocated: the first of this attempt, and the last, the same since a time. */
  private long allocatedFirst;

  private long allocatedLast;
  private long allocatedSince;

  WarmupRun(Warmup.Candidate candidate) {
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

  /** The candidate. */
  Warmup.Candidate candidate() {
    return candidate;
  }

  /** Whether it is in use. */
  boolean isAdopted() {
    return adopted;
  }

  /** Drives the candidate on; true when done with it. */
  boolean round() {
    long start = System.nanoTime();
    try {
      long allocated = Warmup.round(candidate, quiet > 0);
      note(allocated);
      rounds++;
      quiet = allocated == 0 ? quiet + 1 : 0;
      if (quiet >= QUIET) {
        candidate.adopt();
        adopted = true;
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
      Warmup.log(e);
      candidate.giveUp();
      return true;
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
