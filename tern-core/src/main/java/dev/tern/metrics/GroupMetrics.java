package dev.tern.metrics;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How well scores order the rows of each group, such as all rows of a user. Rows may come in any
 * order, 13 bytes each, 17 with weights. Not thread-safe.
 *
 * <p>A row may have a weight: all figures are then those of data in which it stands so many times,
 * one copy behind the other. For example, where one of ten rows without a click was kept, their
 * weight 10 gives each click the rank that it has among all rows. A weight need not be whole: a row
 * of weight 2.5 behind a row of weight 1 is on the places 2 and 3 and on the first half of place 4.
 */
public final class GroupMetrics {
  /** How many rows of a group count as the first in evaluations of training. */
  public static final int USUAL = 10;

  private final int at;
  private long[] groups = new long[1024];
  private float[] scores = new float[1024];
  private boolean[] labels = new boolean[1024];

  /** From the first row on that has a weight other than 1. */
  private float @Nullable [] weights;

  private int count;
  private long added;

  /** Figures of all groups. Means without a group are NaN. */
  public record Result(Counts counts, Auc auc, Order order) {}

  /**
   * Numbers of groups.
   *
   * @param groups all
   * @param mixed groups with rows of both labels, of which AUC tells
   * @param positive groups with a row labelled 1, of which {@link Order} tells
   */
  public record Counts(long groups, long mixed, long positive) {}

  /**
   * The mean AUC of the groups with both labels, under three weightings.
   *
   * @param byRows each group counts as often as it has rows (Zhou et al. 2018, DIN)
   * @param byPositives each as often as it has rows labelled 1
   * @param byGroups each once
   */
  public record Auc(double byRows, double byPositives, double byGroups) {}

  /**
   * Means over the groups with a row labelled 1.
   *
   * @param ndcg the discounted gain of the first rows by score, {@code sum(label / log2(rank +
   *     1))}, as a share of the largest that the group's labels allow (Järvelin and Kekäläinen
   *     2002)
   * @param recall the share of the rows labelled 1 that are among the first
   * @param hitRate 1 if a row labelled 1 is among the first, else 0
   * @param reciprocalRank 1 / rank of the first row labelled 1
   */
  public record Order(double ndcg, double recall, double hitRate, double reciprocalRank) {}

  /**
   * Metrics without rows.
   *
   * @param at how many rows of a group count as the first, 1 or more
   */
  public GroupMetrics(int at) {
    if (at < 1) {
      throw new IllegalArgumentException(
          "groups: got the first %d rows, expected 1 or more".formatted(at));
    }
    this.at = at;
  }

  /**
   * Adds a row.
   *
   * @param score any number; rows of equal score are ordered as badly as their labels allow
   * @param label 0 or 1
   */
  public void add(long group, float score, float label) {
    add(group, score, label, 1);
  }

  /**
   * Adds a row with a weight.
   *
   * @param score as above
   * @param label 0 or 1
   * @param weight how often the row counts: finite, 0 or more. A row of weight 0 is left out
   */
  public void add(long group, float score, float label, float weight) {
    if (Float.isNaN(score) || label != 0 && label != 1) {
      throw new IllegalArgumentException(
          "groups: got the score %s and the label %s in row %d, expected a number, and 0 or 1"
              .formatted(score, label, added));
    }
    if (!(weight >= 0 && weight < Float.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "groups: got the weight %s in row %d, expected a finite number of 0 or more"
              .formatted(weight, added));
    }
    added++;
    if (weight == 0) {
      return;
    }
    makeRoom();
    keepWeight(weight);
    groups[count] = group;
    scores[count] = score + 0.0f;
    labels[count++] = label == 1;
  }

  private void makeRoom() {
    if (count == groups.length) {
      int room = Math.toIntExact(Math.min(2L * count, Integer.MAX_VALUE - 8));
      groups = Arrays.copyOf(groups, room);
      scores = Arrays.copyOf(scores, room);
      labels = Arrays.copyOf(labels, room);
    }
  }

  private void keepWeight(float weight) {
    if (weights == null && weight != 1) {
      WeightedGroups.requireFirst(at);
      weights = new float[groups.length];
      Arrays.fill(weights, 0, count, 1);
    }
    if (weights != null) {
      weights = weights.length < groups.length ? Arrays.copyOf(weights, groups.length) : weights;
      weights[count] = weight;
    }
  }

  /** The figures of the rows so far. */
  public Result result() {
    long[] rows = numbers();
    if (weights != null) {
      return new WeightedGroups(at, rows, weights).result();
    }
    Arrays.sort(rows);
    GroupSums sums = new GroupSums();
    int from = 0;
    for (int row = 1; row <= count; row++) {
      if (row == count || rows[row] >>> 33 != rows[from] >>> 33) {
        add(sums, rows, from, row);
        from = row;
      }
    }
    return sums.result();
  }

  /**
   * A number for each row, which ascends by group, then by descending score, then by label: the
   * number of the group in 31 bits, the score in 32 and the label in one.
   */
  private long[] numbers() {
    long[] distinct = Arrays.stream(groups, 0, count).sorted().distinct().toArray();
    long[] rows = new long[count];
    for (int row = 0; row < count; row++) {
      int bits = Float.floatToRawIntBits(scores[row]);
      // Ascending as an unsigned number where the float descends.
      int descending = bits < 0 ? bits : ~bits & Integer.MAX_VALUE;
      long group = Arrays.binarySearch(distinct, groups[row]);
      rows[row] = group << 33 | (descending & 0xFFFFFFFFL) << 1 | (labels[row] ? 1 : 0);
    }
    return rows;
  }

  /** Adds a group: numbers {@code [from, to)} of the rows in order. */
  private void add(GroupSums sums, long[] ordered, int from, int to) {
    int ones = 0;
    for (int row = from; row < to; row++) {
      ones += (int) (ordered[row] & 1);
    }
    sums.addGroup();
    if (ones == 0) {
      return;
    }
    rank(sums, ordered, from, to, ones);
    int zeros = to - from - ones;
    if (zeros > 0) {
      sums.addAuc(wins(ordered, from, to) / ((double) ones * zeros), to - from, ones);
    }
  }

  /** Pairs of a row labelled 1 and a row labelled 0 below it; of equal score half. */
  private static double wins(long[] ordered, int from, int to) {
    double wins = 0;
    int above = 0;
    int row = from;
    while (row < to) {
      int same = row;
      int ones = 0;
      while (same < to && ordered[same] >>> 1 == ordered[row] >>> 1) {
        ones += (int) (ordered[same++] & 1);
      }
      int zeros = same - row - ones;
      wins += zeros * (above + ones / 2.0);
      above += ones;
      row = same;
    }
    return wins;
  }

  private void rank(GroupSums sums, long[] ordered, int from, int to, int ones) {
    double gain = 0;
    double best = 0;
    int found = 0;
    int first = 0;
    for (int rank = 1; rank <= to - from; rank++) {
      boolean one = (ordered[from + rank - 1] & 1) == 1;
      double share = Math.log(2) / Math.log(rank + 1.0);
      if (rank <= at) {
        gain += one ? share : 0;
        best += rank <= ones ? share : 0;
        found += one ? 1 : 0;
      }
      first = one && first == 0 ? rank : first;
    }
    sums.addOrder(gain / best, (double) found / ones, found > 0, 1.0 / first);
  }
}
