package dev.tern.internal.kernel.warmup;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/** How far the warm-up thread has come with a {@link Warmup.Candidate}. */
final class WarmupRun {
  /**
   * Rounds in a row without allocation after which the code counts as compiled. All but the first
   * are large.
   */
  private static final int QUIET = 4;

  /**
   * Between two looks whether code is compiled. The JIT drops a method from its queue that is
   * called much less often than before ({@code CompilationPolicy::is_stale} of HotSpot).
   */
  private static final long POLL_NANOS = 500_000;

  /** Time after which looks become rare: code that may box for good must not take a processor. */
  private static final long STEADY_NANOS = 2_000_000_000L;

  private static final long RARE_NANOS = 10_000_000;

  /**
   * Time without any compilation after which the JIT counts as done, and the code boxes for good.
   */
  private static final long PATIENCE_NANOS = 6_000_000_000L;

  /** Most time in all, while other code keeps the JIT busy or it has too little of a processor. */
  private static final long MOST_PATIENCE_NANOS = 30_000_000_000L;

  /**
   * Time for which a round has allocated the same, but less than the first round, after which a
   * part of the code counts as boxing for good. It doubles with each attempt, so that a slow
   * machine gets through.
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

  /** Bytes that a round allocated: the first of this attempt, the last, and since when the same. */
  private long allocatedFirst;

  private long allocatedLast;
  private long allocatedSince;

  WarmupRun(Warmup.Candidate candidate) {
    this.candidate = candidate;
  }

  /** Whether the JIT still has to see more of the code. */
  boolean isBusy() {
    return rounds < candidate.busyRounds();
  }

  /** Whether it is time to see whether the code is compiled. */
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

  /** Whether the candidate is in use. */
  boolean isAdopted() {
    return adopted;
  }

  /** Runs the candidate once more; true when done with it. */
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

    /** Time that they took for all that they have finished. */
    static long millis() {
      return BEAN.map(CompilationMXBean::getTotalCompilationTime).orElse(0L);
    }
  }
}
