package dev.tern.embedding.config;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;

/**
 * Which rows a table removes. A row is seen in a step when training looks its id up. Rows that are
 * equal by a rule are removed in an order that depends on their ids alone.
 */
public sealed interface Eviction {
  /** None. */
  record Never() implements Eviction {}

  /** Rows unseen in {@code steps} steps, 1 to 2^30, at the end of the last of these. */
  record Unseen(long steps) implements Eviction {
    public Unseen {
      requireSteps(steps);
    }
  }

  /**
   * Rows whose last step ended {@code time} ago or longer, at the end of a step. A row may stay up
   * to {@code time / 128} longer, because the table keeps the times of only some steps. Time also
   * passes while training is stopped. When the clock goes back, time stands still until it has
   * caught up. A run gives the same bits only with the same times.
   *
   * @param time 1 ms to 36500 days, to the millisecond
   * @param clock asked at the end of each step, by the thread of the update
   */
  record UnseenFor(Duration time, InstantSource clock) implements Eviction {
    private static final Duration LEAST = Duration.ofMillis(1);
    private static final Duration MOST = Duration.ofDays(36_500);

    public UnseenFor {
      Objects.requireNonNull(clock, "clock");
      if (time.compareTo(LEAST) < 0 || time.compareTo(MOST) > 0) {
        throw new IllegalArgumentException(
            "row policy: got eviction time " + time + ", expected 1 ms to 36500 days");
      }
    }

    /** By the clock of the system. */
    public UnseenFor(Duration time) {
      this(time, InstantSource.system());
    }
  }

  /**
   * Rows unseen in {@code steps} steps whose weights are small then: {@code sqrt(sum w^2) < norm}.
   * Others are looked at again after as many steps more.
   *
   * @param norm above 0
   * @param steps 1 to 2^30
   */
  record SmallNorm(float norm, long steps) implements Eviction {
    public SmallNorm {
      requireSteps(steps);
      RowPolicy.require(
          norm > 0 && norm < Float.POSITIVE_INFINITY, "eviction norm", norm, "a number above 0");
    }
  }

  /**
   * Rows whose score falls below {@code least}, at the end of the first such step that does not see
   * them: PaddlePaddle's shrinking by decayed shows and clicks. The score is a sum over the
   * positions at which the row was seen: the weight of the position, multiplied by {@code decay}
   * for each step since. For example, a row seen once two steps ago has a score of {@code decay^2}.
   * Scores stop at 2^23 times the smaller of the two weights.
   *
   * @param decay 1e-6 to 1 - 1e-6
   * @param least above 0
   * @param showWeight weight of a position in a sample that was not clicked (label 0), 1e-3 to 1e3;
   *     PaddlePaddle's {@code nonclk_coeff}
   * @param clickWeight weight of a position in a clicked sample (label 1), 1e-3 to 1e3;
   *     PaddlePaddle's {@code click_coeff}
   */
  record LowScore(double decay, float least, float showWeight, float clickWeight)
      implements Eviction {
    private static final float LEAST_WEIGHT = 1e-3f;
    private static final float MOST_WEIGHT = 1e3f;

    public LowScore {
      RowPolicy.require(
          decay >= 1e-6 && decay <= 1 - 1e-6, "eviction decay", decay, "1e-6 to 1 - 1e-6");
      RowPolicy.require(
          least > 0 && least < Float.POSITIVE_INFINITY, "eviction score", least, "above 0");
      requireWeight("show weight", showWeight);
      requireWeight("click weight", clickWeight);
    }

    /** Every position has weight 1. */
    public LowScore(double decay, float least) {
      this(decay, least, 1, 1);
    }

    private static void requireWeight(String name, float weight) {
      RowPolicy.require(
          weight >= LEAST_WEIGHT && weight <= MOST_WEIGHT, name, weight, "1e-3 to 1e3");
    }
  }

  /** In a full table, the row unseen for longest makes room for a new one. */
  record LeastRecent() implements Eviction {}

  /**
   * In a full table, the row seen at the fewest positions makes room for a new one; of several, the
   * one unseen for longest.
   */
  record LeastFrequent() implements Eviction {}

  /** Whether rows are removed to make room for others. */
  default boolean makesRoom() {
    return this instanceof LeastRecent || this instanceof LeastFrequent;
  }

  private static void requireSteps(long steps) {
    RowPolicy.require(steps >= 1 && steps <= 1L << 30, "eviction steps", steps, "1 to 2^30");
  }
}
