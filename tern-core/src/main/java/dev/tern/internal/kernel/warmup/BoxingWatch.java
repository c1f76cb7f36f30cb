package dev.tern.internal.kernel.warmup;

/**
 * Looks once in a while whether code in use still runs without allocating: the JIT may take
 * compiled code back at any time, and what it compiles instead may box vectors for good. Used by
 * the warm-up thread.
 */
final class BoxingWatch {
  /** Between two looks, each some 100 microseconds of work. */
  private static final long NANOS = 1_000_000_000L;

  /** The same once code allocates, which it also does until it is compiled again. */
  private static final long SOON_NANOS = 100_000_000L;

  /** Looks in a row in which it does, after which it is taken to box for good. */
  private static final int MOST = 5;

  private final Warmup.Candidate candidate;
  private int boxing;
  private long due = System.nanoTime() + NANOS;

  BoxingWatch(Warmup.Candidate candidate) {
    this.candidate = candidate;
  }

  /** The code that is looked after. */
  Warmup.Candidate candidate() {
    return candidate;
  }

  /** Looks, if it is time to; true if the code boxes for good. */
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
