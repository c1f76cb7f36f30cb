package dev.tern.internal.remat.search;

import java.util.concurrent.TimeUnit;

/**
 * When a search has to end, and how far it is. The effort of a search is counted in storages looked
 * at, so that it finds the same each time. A timer with a number of seconds ends it early: then the
 * result depends on the machine.
 */
public final class SearchTimer {
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final double seconds;
  private final double once;
  private final Progress progress;
  private final long start = System.nanoTime();
  private long told = start;
  private long looked;
  private double best = Double.POSITIVE_INFINITY;

  /** Is told how far a search is. */
  @FunctionalInterface
  public interface Progress {
    /**
     * A search goes on.
     *
     * @param seconds since it began
     * @param looked storages that it looked at
     * @param slowdown the time of the best schedule so far, divided by the time without
     *     recomputation
     */
    void searching(double seconds, long looked, double slowdown);
  }

  /**
   * A timer from now on.
   *
   * @param once the time of the step without recomputation
   */
  SearchTimer(double seconds, double once, Progress progress) {
    this.seconds = seconds;
    this.once = once;
    this.progress = progress;
  }

  /** A timer that never ends a search. */
  static SearchTimer unlimited() {
    return new SearchTimer(Double.POSITIVE_INFINITY, 1, (took, looked, slowdown) -> {});
  }

  /** Whether the time is over; reports the progress now and then. */
  boolean isOver() {
    if (seconds == Double.POSITIVE_INFINITY) {
      return false;
    }
    long now = System.nanoTime();
    if (now - told >= PAUSE_NANOS) {
      told = now;
      progress.searching(elapsed(), looked, best / once);
    }
    return elapsed() >= seconds;
  }

  /** Seconds so far. */
  double elapsed() {
    return (System.nanoTime() - start) / 1e9;
  }

  void looked(long work) {
    looked += work;
  }

  /** Notes the time of a step by a schedule that was found. */
  void found(double time) {
    best = Math.min(best, time);
  }

  /**
   * The part of {@code most} that a share of the time left suffices for.
   *
   * @param done how much was done, at the same pace, since {@code begun} seconds
   */
  long affordable(long most, double share, long done, double begun) {
    if (seconds == Double.POSITIVE_INFINITY) {
      return most;
    }
    double pace = done / Math.max(1e-3, elapsed() - begun);
    return (long) Math.clamp(pace * share * (seconds - elapsed()), 0, most);
  }
}
