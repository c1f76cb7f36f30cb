package dev.tern.internal.kernel.warmup;

/**
 * Looks from time to time whether code in use still runs without allocating. The JIT may drop
 * compiled code at any time, and its new code may box vectors for good. For the warm-up thread.
 */
final class BoxingWatch {
  /** Time between two looks; a look takes some 100 microseconds. */
  private static final long NANOS = 1_000_000_000L;

  /** Time to the next look at code that allocates; it may soon be compiled again. */
  private static final long SOON_NANOS = 100_000_000L;

  /** Code that allocates at this many looks in a row boxes for good. */
  private static final int MOST = 5;

  private final Warmup.Candidate candidate;
  private int boxing;
  private long due = System.nanoTime() + NANOS;

  BoxingWatch(Warmup.Candidate candidate) {
    this.candidate = candidate;
  }

  Warmup.Candidate candidate() {
    return candidate;
  }

  /** Looks at the code if a look is due; true if the code boxes for good. */
  boolean boxes() {
    if (System.nanoTime() < due) {
      return false;
    }
    boxing = Warmup.round(candidate, Warmup.Round.LARGE) > 0 ? boxing + 1 : 0;
    due = System.nanoTime() + (boxing > 0 ? SOON_NANOS : NANOS);
    return boxing >= MOST;
  }

  /** Nanoseconds to the next look. */
  long nanos() {
    return due - System.nanoTime();
  }
}
