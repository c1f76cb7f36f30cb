package dev.tern.metrics;

import java.util.Arrays;

/**
 * {@link GroupMetrics} of rows with weights. The rows of a group follow each other by descending
 * score, and each takes as much of the places 1, 2, 3, ... as its weight says: with the weight
 * {@code c} before it, a row of weight {@code w} reaches from {@code c} to {@code c + w}. The gain
 * of a place spreads evenly over it.
 */
final class WeightedGroups {
  /** The first places whose gains are kept. */
  private static final int MOST_FIRST = 1 << 20;

  private final int at;

  /** Numbers of {@link GroupMetrics} in order, each once; and the weight of the rows of each. */
  private final long[] rows;

  private final double[] weights;

  /** At {@code n} the gain of the first {@code n} places, each {@code 1 / log2(place + 1)}. */
  private final double[] gains;

  /**
   * Rows.
   *
   * @param numbers one for each row, in any order
   */
  WeightedGroups(int at, long[] numbers, float[] of) {
    this.at = at;
    rows = Arrays.stream(numbers).sorted().distinct().toArray();
    weights = new double[rows.length];
    for (int row = 0; row < numbers.length; row++) {
      weights[Arrays.binarySearch(rows, numbers[row])] += of[row];
    }
    gains = new double[at + 1];
    for (int place = 1; place <= at; place++) {
      gains[place] = gains[place - 1] + gain(place);
    }
  }

  /** Checks how many rows of a group count as the first. */
  static void requireFirst(int at) {
    if (at > MOST_FIRST) {
      throw new IllegalArgumentException(
          "groups: got the first %d rows beside weights of rows, expected at most %d; take fewer"
              .formatted(at, MOST_FIRST));
    }
  }

  private static double gain(int place) {
    return Math.log(2) / Math.log(place + 1.0);
  }

  GroupMetrics.Result result() {
    GroupSums sums = new GroupSums();
    int from = 0;
    for (int row = 1; row <= rows.length; row++) {
      if (row == rows.length || rows[row] >>> 33 != rows[from] >>> 33) {
        add(sums, from, row);
        from = row;
      }
    }
    return sums.result();
  }

  private void add(GroupSums sums, int from, int to) {
    double ones = 0;
    double zeros = 0;
    double wins = 0;
    for (int row = from; row < to; row++) {
      double own = weights[row];
      if (isOne(row)) {
        // Of equal scores, the row labelled 0 comes first.
        boolean tie = row > from && rows[row - 1] >>> 1 == rows[row] >>> 1;
        wins += tie ? weights[row - 1] * own / 2 : 0;
        ones += own;
      } else {
        wins += own * ones;
        zeros += own;
      }
    }
    sums.addGroup();
    if (ones > 0) {
      rank(sums, from, to, ones);
    }
    if (ones > 0 && zeros > 0) {
      sums.addAuc(wins / (ones * zeros), ones + zeros, ones);
    }
  }

  private void rank(GroupSums sums, int from, int to, double ones) {
    double gain = 0;
    double found = 0;
    double before = 0;
    double first = -1;
    for (int row = from; row < to; row++) {
      double behind = before + weights[row];
      if (isOne(row)) {
        gain += gainOf(behind) - gainOf(before);
        found += Math.min(behind, at) - Math.min(before, at);
        first = first < 0 ? before : first;
      }
      before = behind;
    }
    sums.addOrder(gain / gainOf(ones), found / ones, first < at, 1 / (first + 1));
  }

  /** The gain of all places up to {@code reach}, a part of the last one in proportion. */
  private double gainOf(double reach) {
    if (reach >= at) {
      return gains[at];
    }
    int whole = (int) reach;
    return gains[whole] + (reach - whole) * gain(whole + 1);
  }

  private boolean isOne(int row) {
    return (rows[row] & 1) == 1;
  }
}
