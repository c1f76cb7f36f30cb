package dev.tern.checkpoint;

import java.time.Duration;
import java.util.Objects;

/**
 * When a run writes, between full checkpoints, such that hold of tables only what changed since the
 * one before. A full one is written in place of the next of them after {@code most}, and where
 * those since the last full one have become larger than it.
 *
 * @param steps steps from one to the next; 0 for none by steps
 * @param time from the end of one to the beginning of the next, at the end of a step; zero for none
 *     by time. When checkpoints are written changes no weight
 * @param most how many follow one full checkpoint, 1 or more
 */
public record DeltaSchedule(long steps, Duration time, int most) {
  /** Full checkpoints alone. */
  public static final DeltaSchedule NEVER = new DeltaSchedule(0, Duration.ZERO, 1);

  public DeltaSchedule {
    Objects.requireNonNull(time, "time");
    if (steps < 0 || time.isNegative() || most < 1) {
      throw new IllegalArgumentException(
          "delta schedule: got every %d steps, every %s, at most %d, expected 0 or more steps, no"
                  .formatted(steps, time, most)
              + " negative time, at most 1 or more");
    }
  }

  /** Whether it writes none. */
  public boolean isNever() {
    return steps == 0 && time.isZero();
  }
}
