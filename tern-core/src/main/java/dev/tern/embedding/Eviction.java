package dev.tern.embedding;

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
