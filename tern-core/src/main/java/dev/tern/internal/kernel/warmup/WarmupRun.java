package dev.tern.internal.kernel.warmup;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/** The state of one {@link Warmup.Candidate} on the warm-up thread. */
final class WarmupRun {
  /**
   * Entries before the first round. They have the JIT compile the code with counters of its
   * branches, which the rounds that follow then count.
   */
  private static final int FIRST_ENTRIES = 4;

  /** Rounds without allocation, one small and then large ones, after which code is compiled. */
  private static final int QUIET = 4;

  /**
   * Time between two looks whether code is compiled. If calls of a method become much rarer, the
   * JIT drops it from its queue ({@code CompilationPolicy::is_stale} of HotSpot).
   */
  private static final long POLL_NANOS = 500_000;

  /**
   * All looks together take one part in so many of the warm-up thread's time: rounds of code that
   * boxes keep a processor from the JIT, and have it compile what boxes vectors.
   */
  private static final int SHARE = 5;

  /** Time after which looks become rare, as code that boxes for good must not take a processor. */
  private static final long STEADY_NANOS = 2_000_000_000L;

  private static final long RARE_NANOS = 10_000_000;

  /** If the JIT has compiled nothing for this time, it is done, and the code boxes for good. */
  private static final long PATIENCE_NANOS = 6_000_000_000L;

  /** Most time of an attempt, if the JIT is busy with other code or lacks a processor. */
  private static final long MOST_PATIENCE_NANOS = 30_000_000_000L;

  /**
   * If rounds allocate the same for this time, but less than the first probe or after a probe that
   * allocates nothing, and the JIT has compiled nothing meanwhile, a part of the code boxes for
   * good. The time doubles with each attempt, for slow machines.
   */
  private static final long STUCK_NANOS = 600_000_000L;

  /**
   * The same while the JIT compiles other code. Long, as a new class would have to wait in the
   * JIT's queue again.
   */
  private static final long BUSY_STUCK_NANOS = 5_000_000_000L;

  private final Warmup.Candidate candidate;
  private int rounds;
  private int quiet;
  private int attempts;
  private boolean adopted;
  private long started = System.nanoTime();
  private long due;
  private long entryDue;

  // Time that the JIT had worked at the last look, and when that had last grown.
  private long jitMillis;
  private long jitMoved = started;

  // Bytes that the first probe of this attempt allocated, and whether the last one allocated none.
  private long allocatedFirst;
  private boolean hasPassed;

  // Bytes that the last round allocated that allocated any, and since when.
  private long allocatedLast;
  private long allocatedSince;

  WarmupRun(Warmup.Candidate candidate) {
    this.candidate = candidate;
  }

  /** Whether the JIT still has to see more of the code. */
  boolean isBusy() {
    return rounds < candidate.busyRounds();
  }

  /** Whether it is time for an entry, or to see whether the code is compiled. */
  boolean isDue() {
    return quiet > 0 || System.nanoTime() >= Math.min(entryDue(), due);
  }

  private long entryDue() {
    return candidate.isEntered() ? entryDue : due;
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
    int slower = Math.min(attempts, 4);
    return !isBusy()
        && quiet == 0
        && (hasPassed || allocatedLast < allocatedFirst)
        && (now - Math.max(jitMoved, allocatedSince) > STUCK_NANOS << slower
            || now - allocatedSince > BUSY_STUCK_NANOS << slower);
  }

  Warmup.Candidate candidate() {
    return candidate;
  }

  /** Whether the candidate is in use. */
  boolean isAdopted() {
    return adopted;
  }

  /** Runs what is due and returns the bytes that it allocated. */
  private long run() {
    if (quiet > 0) {
      return run(Warmup.Round.LARGE);
    }
    if (rounds == 0 || !isBusy()) {
      long allocated = run(Warmup.Round.PROBE);
      allocatedFirst = rounds == 0 ? allocated : allocatedFirst;
      hasPassed = allocated == 0;
      if (rounds > 0 && !hasPassed) {
        return allocated;
      }
    }
    return run(Warmup.Round.SMALL);
  }

  private long run(Warmup.Round round) {
    long allocated = Warmup.round(candidate, round);
    if (allocated > 0 && allocated != allocatedLast) {
      allocatedLast = allocated;
      allocatedSince = System.nanoTime();
    }
    return allocated;
  }

  private void enter(int candidates, long start) {
    if (quiet > 0 || !isBusy() && start < entryDue()) {
      return;
    }
    long used = Warmup.processorNanos();
    for (int i = rounds > 0 ? 1 : FIRST_ENTRIES; i > 0; i--) {
      candidate.round(Warmup.Round.ENTRY);
    }
    entryDue = next(used, candidates);
  }

  /** When to do again what began when the thread had used so much time of a processor. */
  private static long next(long used, int candidates) {
    long nanos = Warmup.processorNanos() - used;
    return System.nanoTime() + POLL_NANOS + (SHARE - 1) * candidates * nanos;
  }

  /**
   * Runs a round if it is time for one; true if the candidate is adopted or given up.
   *
   * @param candidates that wait, this one among them
   */
  boolean round(int candidates) {
    long start = System.nanoTime();
    try {
      enter(candidates, start);
      if (quiet == 0 && !isBusy() && start < due) {
        return false;
      }
      long used = Warmup.processorNanos();
      long allocated = run();
      rounds++;
      quiet = allocated == 0 ? quiet + 1 : 0;
      if (quiet >= QUIET) {
        candidate.adopt();
        adopted = true;
        return true;
      }
      long now = System.nanoTime();
      due = next(used, candidates) + (now - started < STEADY_NANOS ? 0 : RARE_NANOS);
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

    /** Time that they have worked, without what is not finished. */
    static long millis() {
      return BEAN.map(CompilationMXBean::getTotalCompilationTime).orElse(0L);
    }
  }
}
