package dev.tern.bench.serve;

/**
 * Times of requests, counted in classes whose width is at most 1/64 of the time. One thread writes.
 */
final class Latencies {
  private static final int FINE_BITS = 6;
  private static final int CLASSES = 64 << FINE_BITS;

  private final long[] counts = new long[CLASSES];
  private long total;
  private long largest;

  void add(long nanos) {
    counts[place(Math.max(0, nanos))]++;
    total++;
    largest = Math.max(largest, nanos);
  }

  void add(Latencies other) {
    for (int at = 0; at < CLASSES; at++) {
      counts[at] += other.counts[at];
    }
    total += other.total;
    largest = Math.max(largest, other.largest);
  }

  long count() {
    return total;
  }

  /** Nanoseconds that a share of all times is not above. */
  double quantile(double share) {
    long rank = (long) Math.ceil(share * total);
    long below = 0;
    for (int at = 0; at < CLASSES; at++) {
      below += counts[at];
      if (below >= rank && counts[at] > 0) {
        return Math.min(largest, bound(at));
      }
    }
    return largest;
  }

  private static int place(long nanos) {
    int high = 63 - Long.numberOfLeadingZeros(Math.max(1, nanos));
    if (high <= FINE_BITS) {
      return (int) nanos;
    }
    int shift = high - FINE_BITS;
    return (shift << FINE_BITS) + (int) (nanos >>> shift);
  }

  /** The largest time of a class. */
  private static double bound(int place) {
    int shift = (place >> FINE_BITS) - 1;
    if (shift <= 0) {
      return place;
    }
    long fine = (place & (1 << FINE_BITS) - 1) + (1L << FINE_BITS);
    return (fine + 1) * (double) (1L << shift) - 1;
  }
}
