package dev.tern.serve.http.metrics;

import java.util.concurrent.atomic.LongAdder;

/** Counts times by size, and adds them up; many threads count at once. */
final class Histogram {
  /** Upper bounds in nanoseconds: 50 us to 1 s. */
  private static final long[] BOUNDS = {
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    1_000_000_000
  };

  private static final String[] NAMES = {
    "5e-05", "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05",
    "0.1", "0.25", "1"
  };

  private final LongAdder[] counts = new LongAdder[BOUNDS.length + 1];
  private final LongAdder sum = new LongAdder();

  Histogram() {
    for (int at = 0; at < counts.length; at++) {
      counts[at] = new LongAdder();
    }
  }

  void add(long nanos) {
    int at = 0;
    while (at < BOUNDS.length && nanos > BOUNDS[at]) {
      at++;
    }
    counts[at].increment();
    sum.add(nanos);
  }

  /** Writes the lines of a histogram of seconds. */
  void write(Exposition page, String name, String labels) {
    String more = labels.isEmpty() ? "" : labels + ",";
    long below = 0;
    for (int at = 0; at < BOUNDS.length; at++) {
      below += counts[at].sum();
      page.line(name + "_bucket", more + "le=\"" + NAMES[at] + "\"", below);
    }
    below += counts[BOUNDS.length].sum();
    page.line(name + "_bucket", more + "le=\"+Inf\"", below);
    page.line(name + "_sum", labels, sum.sum() / 1e9);
    page.line(name + "_count", labels, below);
  }
}
