package dev.tern.metrics;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;

/** The area under the ROC curve of rows with weights or soft labels, as {@link Metrics} has it. */
final class WeightedAuc {
  private final Side positives = new Side();
  private final Side negatives = new Side();

  /** Adds a row: {@code label} of its weight is positive, the rest negative. */
  void add(float score, float label, float weight) {
    float positive = weight * label;
    float negative = (float) (weight * (1 - (double) label));
    if (positive > 0) {
      positives.add(score, positive);
    }
    if (negative > 0) {
      negatives.add(score, negative);
    }
  }

  /** Adds rows with the weight 1. */
  void addAll(float[] scores, int count, float label) {
    for (int i = 0; i < count; i++) {
      add(scores[i], label, 1);
    }
  }

  /**
   * {@code sum(w v [s > t] + w v [s = t] / 2) / (sum(w) sum(v))} over positive scores {@code s} of
   * weight {@code w} and negative scores {@code t} of weight {@code v}; NaN without such pairs.
   */
  double value() {
    positives.sort();
    negatives.sort();
    double won = 0;
    double all = 0;
    double below = 0;
    int other = 0;
    for (int i = 0; i < positives.count; ) {
      int score = positives.score(i);
      for (; other < negatives.count && negatives.score(other) < score; other++) {
        below += negatives.weight(other);
      }
      double equal = 0;
      for (; other < negatives.count && negatives.score(other) == score; other++) {
        equal += negatives.weight(other);
      }
      double own = 0;
      for (; i < positives.count && positives.score(i) == score; i++) {
        own += positives.weight(i);
      }
      won += own * (below + equal / 2);
      below += equal;
      all += own;
    }
    for (; other < negatives.count; other++) {
      below += negatives.weight(other);
    }
    return won / (all * below);
  }

  /**
   * The variance of {@link #value} over samples of rows with their weights, as in {@link
   * WeightedPairs}: that of the weighted mean of the positive rows' shares of negative rows below
   * them, and of the negative rows' shares of positive rows above. NaN below two rows of a label.
   */
  double variance() {
    double auc = value();
    return positives.variance(negatives, auc) + negatives.variance(positives, 1 - auc);
  }

  /** The bins of these rows. */
  Reliability reliability(DoubleUnaryOperator probability, int bins) {
    positives.sort();
    negatives.sort();
    return Reliability.of(positives, negatives, probability, bins);
  }

  /** Scores with weights, in order of arrival until sorted. */
  private static final class Side implements Reliability.Sorted {
    /** The score as an integer of the same order in the upper half; the weight in the lower. */
    private long[] pairs = new long[1024];

    private int count;

    void add(float score, float weight) {
      if (count == pairs.length) {
        pairs = Arrays.copyOf(pairs, Metrics.room(count));
      }
      // Adding 0 turns -0 into 0, which it equals.
      int bits = Float.floatToRawIntBits(score + 0.0f);
      int ordered = bits ^ (bits >> 31 & Integer.MAX_VALUE);
      pairs[count++] = (long) ordered << 32 | Float.floatToRawIntBits(weight);
    }

    void sort() {
      Arrays.sort(pairs, 0, count);
    }

    /**
     * The variance of the weighted mean of {@code share}, the share of others' weight below each
     * row; both sorted.
     */
    double variance(Side others, double mean) {
      double all = 0;
      for (int i = 0; i < others.count; i++) {
        all += others.weight(i);
      }
      double own = 0;
      double squares = 0;
      double below = 0;
      double notAbove = 0;
      int first = 0;
      int next = 0;
      for (int i = 0; i < count; i++) {
        for (; first < others.count && others.score(first) < score(i); first++) {
          below += others.weight(first);
        }
        for (; next < others.count && others.score(next) <= score(i); next++) {
          notAbove += others.weight(next);
        }
        double away = weight(i) * ((below + notAbove) / (2 * all) - mean);
        own += weight(i);
        squares += away * away;
      }
      return count < 2 ? Double.NaN : count / (count - 1.0) * squares / (own * own);
    }

    int score(int index) {
      return (int) (pairs[index] >> 32);
    }

    @Override
    public int count() {
      return count;
    }

    @Override
    public float at(int index) {
      int ordered = score(index);
      return Float.intBitsToFloat(ordered ^ (ordered >> 31 & Integer.MAX_VALUE));
    }

    @Override
    public float weight(int index) {
      return Float.intBitsToFloat((int) pairs[index]);
    }
  }
}
