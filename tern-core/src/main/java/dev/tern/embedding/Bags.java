package dev.tern.embedding;

import java.util.Objects;

/** What the offsets of a slot say about its bags. */
final class Bags {
  /** In place of weights: there are none, which is as if all were 1. */
  static final float[] UNWEIGHTED = {};

  private Bags() {}

  /**
   * Checks that bags {@code from} to {@code to - 1} lie within {@code count} positions.
   *
   * @return whether each of them holds exactly one id
   */
  static boolean check(String table, int[] offsets, int from, int to, int count) {
    Objects.checkFromToIndex(from, to, offsets.length - 1);
    int before = offsets[from];
    boolean valid = before >= 0;
    boolean single = true;
    for (int b = from + 1; b <= to; b++) {
      int offset = offsets[b];
      valid &= offset >= before;
      single &= offset - before == 1;
      before = offset;
    }
    if (!valid || before > count) {
      throw new IllegalArgumentException(
          "table "
              + table
              + ": got offsets that descend or leave 0 to "
              + count
              + ", expected those of the ids that were looked up");
    }
    return single;
  }

  /** Checks that there is a weight for each of {@code count} positions. */
  static float[] weights(String table, float[] weights, int count) {
    if (weights.length < count) {
      throw new IllegalArgumentException(
          "table %s: got %d weights for %d ids, expected one for each"
              .formatted(table, weights.length, count));
    }
    return weights;
  }
}
