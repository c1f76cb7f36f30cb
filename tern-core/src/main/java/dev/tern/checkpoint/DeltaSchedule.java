package dev.tern.checkpoint;

import java.time.Duration;
import java.util.Objects;

/**
 * When a run writes delta checkpoints, which hold only the table rows that changed since the
 * checkpoint before. A full checkpoint takes the place of a delta after {@code most} deltas, or
 * when the deltas together are larger than the last full checkpoint. The schedule changes no
 * weight.
 *
 * @param steps steps between two deltas; 0 for none by steps
 * @param time time between the end of one delta and the begin of the next, checked after each step;
 *     zero for none by time
 * @param most deltas after one full checkpoint, 1 or more
 */
public record DeltaSchedule(long steps, Duration time, int most) {
  /** No deltas: full checkpoints only. */
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

  /** Whether there are no deltas. */
  public boolean isNever() {
    return steps == 0 && time.isZero();
  }
}
