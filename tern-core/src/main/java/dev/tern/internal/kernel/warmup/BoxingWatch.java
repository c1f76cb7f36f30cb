package dev.tern.internal.kernel.warmup;

/**
 * Looks from time to time whether code in use still runs without allocating. The JIT may take
 * compiled code back at any time, and what it compiles instead may box vectors for good. Only the
 * warm-up thread uses it.
 */
final class BoxingWatch {
  /** Time between two looks; a look takes some 100 microseconds. */
  private static final long NANOS = 1_000_000_000L;

  /** Time to the next look at code that allocates, as it does until it is compiled again. */
  private static final long SOON_NANOS = 100_000_000L;

  /** Looks in a row at code that allocates, after which it counts as boxing for good. */
  private static final int MOST = 5;

  private final Warmup.Candidate candidate;
  private int boxing;
  private long due = System.nanoTime() + NANOS;

  BoxingWatch(Warmup.Candidate candidate) {
    this.candidate = candidate;
  }

  /** The code that is watched. */
  Warmup.Candidate candidate() {
    return candidate;
  }

  /** Looks at the code if it is time to; true if it boxes for good. */
  boolean boxes() {
    if (System.nanoTime() < due) {
      return false;
    }
    boxing = Warmup.round(candidate, true) > 0 ? boxing + 1 : 0;
    due = System.nanoTime() + (boxing > 0 ? SOON_NANOS : NANOS);
    return boxing >= MOST;
  }

  /** Nanoseconds to the next look. */
  long nanos() {
    return due - System.nanoTime();
  }
}
