package dev.tern.embedding.config;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;

/**
 * Which rows go. A row is seen in a step when training looks its id up. Rows that are equal by a
 * rule go in an order that depends on their ids alone.
 */
public sealed interface Eviction {
  /** No row goes. */
  record Never() implements Eviction {}

  /**
   * Rows unseen in {@code steps} steps, at the end of the last of these.
   *
   * @param steps 1 to 2^30
   */
  record Unseen(long steps) implements Eviction {
    public Unseen {
      requireSteps(steps);
    }
  }

  /**
   * Rows unseen for {@code time}, at the end of the first step after that: those whose last step
   * ended so long ago, or up to 1/128 longer, as no more steps are told apart. Time passes while
   * training is stopped, too. Where the clock goes back, time stands still until it has caught up.
   * Which rows go depends on the clock: a run gives the same bits only with the same times.
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
   * Rows with a low score, at the end of the first step that does not see them and leaves them with
   * one below {@code least}: PaddlePaddle's shrinking by decayed shows and clicks. A row's score is
   * the weight of the positions at which it was seen, those of a step counted {@code decay} times
   * as much as those of the step after it. It stops at 2^23 times the smaller of the two weights.
   *
   * @param decay 1e-6 to 1 - 1e-6
   * @param least above 0
   * @param showWeight what a position counts whose sample was shown and not clicked, which has a
   *     label of 0; 1e-3 to 1e3. PaddlePaddle's {@code nonclk_coeff}
   * @param clickWeight what one counts whose sample was clicked, which has a label of 1; 1e-3 to
   *     1e3. PaddlePaddle's {@code click_coeff}
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

    /** With all positions alike; a row seen once has a score of 1. */
    public LowScore(double decay, float least) {
      this(decay, least, 1, 1);
    }

    private static void requireWeight(String name, float weight) {
      RowPolicy.require(
          weight >= LEAST_WEIGHT && weight <= MOST_WEIGHT, name, weight, "1e-3 to 1e3");
    }
  }

  /** In a full table the row whose last step is the longest ago makes room for a new one. */
  record LeastRecent() implements Eviction {}

  /**
   * In a full table the row seen at the fewest positions makes room for a new one; of several, the
   * one whose last step is the longest ago.
   */
  record LeastFrequent() implements Eviction {}

  /** Whether rows go to make room for others. */
  default boolean makesRoom() {
    return this instanceof LeastRecent || this instanceof LeastFrequent;
  }

  private static void requireSteps(long steps) {
    RowPolicy.require(steps >= 1 && steps <= 1L << 30, "eviction steps", steps, "1 to 2^30");
  }
}
