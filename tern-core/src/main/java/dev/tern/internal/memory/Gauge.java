package dev.tern.internal.memory;

/** A quantity over time: its present and highest value, and the sums added and removed. */
public final class Gauge {
  private long peak;
  private long added;
  private long removed;

  Gauge() {}

  /** The present value. */
  public long current() {
    return added - removed;
  }

  /** The highest value it had. */
  public long peak() {
    return peak;
  }

  long totalAdded() {
    return added;
  }

  long totalRemoved() {
    return removed;
  }

  /** Adds {@code by}, or removes {@code -by} where it is negative. */
  void change(long by) {
    if (by < 0) {
      remove(-by);
    } else {
      add(by);
    }
  }

  void add(long by) {
    added += by;
    if (added - removed > peak) {
      peak = added - removed;
    }
  }

  void remove(long by) {
    removed += by;
  }
}
