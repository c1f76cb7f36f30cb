package dev.tern.serve.http;

/**
 * Whether small requests for a model are computed on the thread that read them. To give a row to
 * another thread takes longer than to score it; but a thread that computes reads no other
 * connection meanwhile. So it computes only where such requests took less than 50 µs of late.
 *
 * <p>The mean moves by a sixteenth of each difference and begins at 1 ms: one slow request sends
 * the next ones to other threads at once, and it takes some fifty quick ones to come back. Slower
 * ones than that count as 1 ms, so that it never takes many more.
 */
final class Quick {
  private static final int MOST_BYTES = 8 << 10;
  private static final long MOST_NANOS = 50_000;
  private static final long SLOW_NANOS = 1_000_000;
  private static final int PART = 16;

  private volatile long mean = SLOW_NANOS;

  /**
   * Whether a request is computed where it was read.
   *
   * @param bytes of its body
   */
  boolean is(int bytes) {
    return bytes <= MOST_BYTES && mean < MOST_NANOS;
  }

  /** Counts a request, however it was answered. */
  void took(int bytes, long nanos) {
    if (bytes <= MOST_BYTES) {
      long before = mean; // Two threads may lose the count of one.
      mean = before + (Math.min(nanos, SLOW_NANOS) - before) / PART;
    }
  }
}
