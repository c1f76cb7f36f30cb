package dev.tern.metrics;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How the scores of two models differ on the same rows. What makes rows hard for one model mostly
 * makes them hard for the other, so the difference is known far better than either figure. Keeps 8
 * bytes a row, 12 with weights. Not thread-safe.
 *
 * <p>A row may have a weight: the figures are then those of data in which it stands so many times.
 * Their deviations are over samples of other rows with weights of their own, not of other copies:
 * to count every row ten times makes nothing more certain. They linearize the quotients of weighted
 * sums that the figures are (Särndal, Swensson and Wretman, "Model Assisted Survey Sampling", 1992,
 * section 5.5).
 */
public final class PairedMetrics {
  private final Pairs positives = new Pairs();
  private final Pairs negatives = new Pairs();
  private final Spread loss = new Spread();
  private long added;
  private double firstLoss;
  private double secondLoss;

  /**
   * Figures of all rows.
   *
   * @param rows rows, without those of weight 0
   * @param positives rows labelled 1 among them
   * @param auc areas under the ROC curve, ties counting half, and their deviation after DeLong,
   *     DeLong and Clarke-Pearson (Biometrics 44, 1988)
   * @param logLoss mean log losses, and the deviation of the mean of the rows' differences
   */
  public record Result(long rows, long positives, Difference auc, Difference logLoss) {}

  /**
   * A figure of two models.
   *
   * @param first of the first model; NaN where the rows do not tell, as the others
   * @param second of the second
   * @param deviation standard deviation of their difference over samples like these rows
   */
  public record Difference(double first, double second, double deviation) {
    /** Half the width of an interval of 95 percent, in deviations. */
    private static final double HALF_WIDTH = 1.959964;

    /** The first less the second. */
    public double value() {
      return first - second;
    }

    /** The lower end of an interval that holds the difference in 95 of 100 samples. */
    public double low() {
      return value() - HALF_WIDTH * deviation;
    }

    /** The upper end of that interval. */
    public double high() {
      return value() + HALF_WIDTH * deviation;
    }

    /**
     * How likely two equally good models would differ as much or more by chance, in either
     * direction, 0 to 1: for example 0.05 where the difference is 1.96 deviations. 1 where the
     * models do not differ at all, NaN where the rows do not tell.
     */
    public double pValue() {
      return value() == 0 && deviation == 0 ? 1 : NormalTail.bothSides(value() / deviation);
    }
  }

  /**
   * Adds a row.
   *
   * @param first the logit of the first model
   * @param second the logit of the second
   * @param label 0 or 1
   */
  public void add(float first, float second, float label) {
    add(first, second, label, 1);
  }

  /**
   * Adds a row with a weight.
   *
   * @param first the logit of the first model
   * @param second the logit of the second
   * @param label 0 or 1
   * @param weight how often the row counts: finite, 0 or more. A row of weight 0 is left out
   */
  public void add(float first, float second, float label, float weight) {
    if (Float.isNaN(first) || Float.isNaN(second) || label != 0 && label != 1) {
      throw new IllegalArgumentException(
          "pairs: got the scores %s and %s and the label %s in row %d, expected numbers, and 0 or 1"
              .formatted(first, second, label, added));
    }
    if (!(weight >= 0 && weight < Float.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "pairs: got the weight %s in row %d, expected a finite number of 0 or more"
              .formatted(weight, added));
    }
    added++;
    if (weight == 0) {
      return;
    }
    double ofFirst = loss(first, label);
    double ofSecond = loss(second, label);
    firstLoss += ofFirst;
    secondLoss += ofSecond;
    // Two infinite losses of the same row are equally bad.
    loss.add(ofFirst == ofSecond ? 0 : ofFirst - ofSecond);
    (label == 1 ? positives : negatives).add(first, second, weight);
  }

  static double loss(float logit, float label) {
    double away = label == 1 ? -(double) logit : logit;
    return Math.max(away, 0) + StrictMath.log1p(StrictMath.exp(-Math.abs((double) logit)));
  }

  /** The figures of the rows so far. */
  public Result result() {
    long rows = (long) positives.count + negatives.count;
    if (positives.weights != null || negatives.weights != null) {
      WeightedPairs weighted = new WeightedPairs(positives.rows(), negatives.rows());
      return new Result(rows, positives.count, weighted.auc(), weighted.logLoss());
    }
    return new Result(
        rows,
        positives.count,
        auc(),
        new Difference(
            rows == 0 ? Double.NaN : firstLoss / rows,
            rows == 0 ? Double.NaN : secondLoss / rows,
            Math.sqrt(loss.variance() / rows)));
  }

  /**
   * Of a row labelled 1, the share of the rows labelled 0 below it is its part in the AUC; of a row
   * labelled 0, the share of the rows labelled 1 above it. The variance of the AUCs' difference is
   * that of these shares' differences, over the rows of each label by their number.
   */
  private Difference auc() {
    float[] firstOnes = positives.sortedFirst();
    float[] secondOnes = positives.sortedSecond();
    float[] firstZeros = negatives.sortedFirst();
    float[] secondZeros = negatives.sortedSecond();
    long firstWins = 0;
    long secondWins = 0;
    Spread ofOnes = new Spread();
    for (int i = 0; i < positives.count; i++) {
      long first = twiceBelow(firstZeros, positives.first[i]);
      long second = twiceBelow(secondZeros, positives.second[i]);
      firstWins += first;
      secondWins += second;
      ofOnes.add((first - second) / (2.0 * negatives.count));
    }
    Spread ofZeros = new Spread();
    for (int i = 0; i < negatives.count; i++) {
      long first = twiceBelow(firstOnes, negatives.first[i]);
      long second = twiceBelow(secondOnes, negatives.second[i]);
      ofZeros.add((second - first) / (2.0 * positives.count));
    }
    double twicePairs = 2.0 * positives.count * negatives.count;
    double variance = ofOnes.variance() / positives.count + ofZeros.variance() / negatives.count;
    return new Difference(firstWins / twicePairs, secondWins / twicePairs, Math.sqrt(variance));
  }

  /** Twice the number of {@code sorted} scores below {@code score}, and equal ones once. */
  private static long twiceBelow(float[] sorted, float score) {
    return (long) firstNotBelow(sorted, score) + firstAbove(sorted, score);
  }

  /** The place of the first of sorted scores that is {@code score} or more. */
  static int firstNotBelow(float[] sorted, float score) {
    int low = 0;
    int high = sorted.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (sorted[middle] < score) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The place of the first of sorted scores above {@code score}. */
  static int firstAbove(float[] sorted, float score) {
    int low = 0;
    int high = sorted.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (sorted[middle] <= score) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The scores of rows of one label, in order of arrival. */
  private static final class Pairs {
    private float[] first = new float[1024];
    private float[] second = new float[1024];

    /** From the first row on that has a weight other than 1. */
    private float @Nullable [] weights;

    private int count;

    /** Adding 0 turns -0 into 0, which it equals. */
    void add(float ofFirst, float ofSecond, float weight) {
      if (count == first.length) {
        int room = Math.toIntExact(Math.min(2L * count, Integer.MAX_VALUE - 8));
        first = Arrays.copyOf(first, room);
        second = Arrays.copyOf(second, room);
        weights = weights == null ? null : Arrays.copyOf(weights, room);
      }
      if (weights == null && weight != 1) {
        weights = new float[first.length];
        Arrays.fill(weights, 0, count, 1);
      }
      if (weights != null) {
        weights[count] = weight;
      }
      first[count] = ofFirst + 0.0f;
      second[count++] = ofSecond + 0.0f;
    }

    WeightedPairs.Rows rows() {
      float[] own = weights == null ? new float[count] : weights;
      if (weights == null) {
        Arrays.fill(own, 1);
      }
      return new WeightedPairs.Rows(first, second, own, count);
    }

    float[] sortedFirst() {
      return sorted(first, count);
    }

    float[] sortedSecond() {
      return sorted(second, count);
    }

    private static float[] sorted(float[] scores, int count) {
      float[] copy = Arrays.copyOf(scores, count);
      Arrays.sort(copy);
      return copy;
    }
  }

  /**
   * The variance of numbers by Welford's recurrence: no digits are lost where they hardly differ.
   */
  private static final class Spread {
    private long count;
    private double mean;
    private double squares;

    void add(double value) {
      count++;
      double away = value - mean;
      mean += away / count;
      squares += away * (value - mean);
    }

    /** NaN below two numbers. */
    double variance() {
      return count < 2 ? Double.NaN : squares / (count - 1);
    }
  }
}
