package dev.tern.internal.table.policy;

import dev.tern.embedding.config.Eviction;
import java.time.InstantSource;

/**
 * When the last steps of a table ended, as far back as {@link Eviction.UnseenFor#time}. So a row
 * notes only its last step, not a time. Of the steps within {@code 1 / PARTS} of that time only the
 * last is kept, and the others count as if they had ended with it. When the clock goes back, time
 * stands still.
 */
final class StepTimes {
  private static final int PARTS = 128;

  /** The most steps kept: of any three in a row, the last ended a part or more after the first. */
  static final int MOST = 2 * PARTS;

  private final InstantSource clock;

  // In milliseconds.
  private final long span;
  private final long part;

  // Steps and when they ended, in milliseconds since 1970; one more until the oldest are dropped.
  private final long[] steps = new long[MOST + 1];
  private final long[] times = new long[MOST + 1];

  private int count;

  StepTimes(Eviction.UnseenFor rule) {
    clock = rule.clock();
    span = rule.time().toMillis();
    part = Math.ceilDiv(span, PARTS);
  }

  /**
   * Ends a step, not before the last one.
   *
   * @return the last step that ended {@code span} ago or earlier; 0 if no further step did since
   *     the last call
   */
  long end(long step) {
    long now = Math.max(clock.millis(), count == 0 ? 0 : times[count - 1]);
    if (count >= 2 && now - times[count - 2] < part) {
      count--;
    }
    steps[count] = step;
    times[count++] = now;
    int old = 0;
    while (times[old] <= now - span) {
      old++;
    }
    long last = old == 0 ? 0 : steps[old - 1];
    count -= old;
    System.arraycopy(steps, old, steps, 0, count);
    System.arraycopy(times, old, times, 0, count);
    return last;
  }

  /** Numbers that {@link #write} writes. */
  int size() {
    return 2 * count;
  }

  /** Writes steps and their times, in pairs, from {@code at} on. */
  void write(long[] into, int at) {
    for (int i = 0; i < count; i++) {
      into[at + 2 * i] = steps[i];
      into[at + 2 * i + 1] = times[i];
    }
  }

  /** Reads what {@link #write} wrote; returns whether it is possible after step {@code now}. */
  boolean read(long[] from, int at, long now) {
    int pairs = (from.length - at) / 2;
    if (pairs > MOST || (from.length - at) % 2 != 0) {
      return false;
    }
    count = pairs;
    boolean valid = true;
    for (int i = 0; i < pairs; i++) {
      steps[i] = from[at + 2 * i];
      times[i] = from[at + 2 * i + 1];
      valid &= steps[i] >= 0 && steps[i] <= now && times[i] >= 0;
      valid &= i < 1 || steps[i] >= steps[i - 1] && times[i] >= times[i - 1];
      valid &= i < 2 || times[i] - times[i - 2] >= part;
    }
    return valid && (pairs == 0 || times[pairs - 1] - times[0] < span);
  }
}
