package dev.tern.train;

import java.util.Arrays;

/**
 * How well scores predict labels of 0 and 1. Collects rows, one float each, and computes exact
 * figures. The figures depend on the rows and their order, not on how many a call adds. Not
 * thread-safe.
 */
public final class Metrics {
  /**
   * Scores of the rows labelled 1, in order of arrival until sorted; then of the rows labelled 0.
   */
  private float[] positives = new float[1024];

  private float[] negatives = new float[1024];
  private int positiveCount;
  private int negativeCount;
  private double lossSum;
  private double probabilitySum;

  /**
   * Figures of the rows so far.
   *
   * @param rows rows
   * @param positives rows labelled 1
   * @param auc area under the ROC curve: of all pairs of a row labelled 1 and a row labelled 0, the
   *     share in which the row labelled 1 scores higher; ties count half; NaN without such pairs
   * @param aucDeviation standard deviation of {@code auc} over samples like these rows (DeLong,
   *     DeLong and Clarke-Pearson, Biometrics 44, 1988); NaN where fewer than two rows have one of
   *     the labels
   * @param logLoss mean of {@code -log(probability of the label)}; NaN without rows
   * @param calibration sum of predicted probabilities over number of rows labelled 1; NaN without
   *     rows, infinite where none is labelled 1
   */
  public record Result(
      long rows,
      long positives,
      double auc,
      double aucDeviation,
      double logLoss,
      double calibration) {
    /** Half the width of an interval of 95 percent, in deviations. */
    private static final double HALF_WIDTH = 1.959964;

    /** The lower end of an interval that holds the AUC of all such rows in 95 of 100 samples. */
    public double aucLow() {
      return Math.max(0, auc - HALF_WIDTH * aucDeviation);
    }

    /** The upper end of that interval. */
    public double aucHigh() {
      return Math.min(1, auc + HALF_WIDTH * aucDeviation);
    }

    /**
     * The log loss as a share of that of the constant {@link #positiveRate} (He et al., "Practical
     * Lessons from Predicting Clicks on Ads at Facebook", 2014): below 1 where the scores say more
     * than the rate. For example, a loss of 0.35 where half of the rows are positive is 0.35 / ln 2
     * = 0.505. NaN where all labels are equal.
     */
    public double normalizedEntropy() {
      double p = positiveRate();
      double entropy = -p * Math.log(p) - (1 - p) * Math.log1p(-p);
      return logLoss / entropy;
    }

    /** Share of rows labelled 1. */
    public double positiveRate() {
      return (double) positives / rows;
    }
  }

  /**
   * Adds {@code count} rows.
   *
   * @param logits log-odds of label 1; may be infinite
   * @param labels 0 or 1
   * @throws IllegalArgumentException if a logit is NaN or a label is neither 0 nor 1; rows before
   *     it are added
   */
  public void addLogits(float[] logits, float[] labels, int count) {
    for (int i = 0; i < count; i++) {
      addLogit(logits[i], labels[i], i);
    }
  }

  /** Adds a row, number {@code index} of a call. */
  void addLogit(float logit, float label, int index) {
    if (Float.isNaN(logit)) {
      throw wrong(
          "score",
          index,
          logit,
          "a number; look for huge values among the features of the row, or lower the learning rate"
              + " where training diverged");
    }
    boolean positive = isPositive(label, index);
    double exp = StrictMath.exp(-Math.abs((double) logit));
    double away = positive ? -logit : logit;
    lossSum += Math.max(away, 0) + StrictMath.log1p(exp);
    probabilitySum += (logit >= 0 ? 1 : exp) / (1 + exp);
    keep(logit, positive);
  }

  /**
   * Adds {@code count} rows.
   *
   * @param probabilities of label 1, in [0, 1]
   * @param labels 0 or 1
   * @throws IllegalArgumentException if a probability or label is out of range; rows before it are
   *     added
   */
  public void addProbabilities(float[] probabilities, float[] labels, int count) {
    for (int i = 0; i < count; i++) {
      float probability = probabilities[i];
      if (!(probability >= 0 && probability <= 1)) {
        throw wrong("probability", i, probability, "0 to 1");
      }
      boolean positive = isPositive(labels[i], i);
      lossSum -= positive ? StrictMath.log(probability) : StrictMath.log1p(-(double) probability);
      probabilitySum += probability;
      keep(probability, positive);
    }
  }

  private boolean isPositive(float label, int index) {
    if (label != 0 && label != 1) {
      throw wrong("label", index, label, "0 or 1");
    }
    return label == 1;
  }

  private IllegalArgumentException wrong(String what, int index, float got, String expected) {
    long row = (long) positiveCount + negativeCount;
    return new IllegalArgumentException(
        "metrics: got the %s %s in row %d (%d of this call), expected %s"
            .formatted(what, got, row, index, expected));
  }

  /** Adding 0 turns -0 into 0, which it equals. */
  private void keep(float score, boolean positive) {
    if (positive) {
      if (positiveCount == positives.length) {
        positives = grown(positives);
      }
      positives[positiveCount++] = score + 0.0f;
    } else {
      if (negativeCount == negatives.length) {
        negatives = grown(negatives);
      }
      negatives[negativeCount++] = score + 0.0f;
    }
  }

  private static float[] grown(float[] scores) {
    if (scores.length > Integer.MAX_VALUE - 16) {
      throw new IllegalArgumentException(
          "metrics: got more than %d rows of one label, expected fewer; evaluate on part of the data"
              .formatted(scores.length));
    }
    return Arrays.copyOf(scores, (int) Math.min(2L * scores.length, Integer.MAX_VALUE - 8));
  }

  /** The figures of the rows added since the last {@link #clear}; more rows may follow. */
  public Result result() {
    long rows = (long) positiveCount + negativeCount;
    Arrays.sort(positives, 0, positiveCount);
    Arrays.sort(negatives, 0, negativeCount);
    Wins above = wins(positives, positiveCount, negatives, negativeCount);
    Wins below = wins(negatives, negativeCount, positives, positiveCount);
    double variance = above.variance() / positiveCount + below.variance() / negativeCount;
    return new Result(
        rows,
        positiveCount,
        above.twice() / (2.0 * positiveCount * negativeCount),
        Math.sqrt(variance),
        rows == 0 ? Double.NaN : lossSum / rows,
        probabilitySum / positiveCount);
  }

  /**
   * How rows of one label compare with those of the other.
   *
   * @param twice twice the number of pairs in which the former score higher, and ties once: the
   *     Mann-Whitney statistic
   * @param variance over the former rows, of the share of the latter that each scores higher than;
   *     NaN below two rows
   */
  private record Wins(long twice, double variance) {}

  /** Of sorted scores. */
  private static Wins wins(float[] scores, int count, float[] others, int otherCount) {
    long twice = 0;
    double mean = 0;
    double squares = 0;
    int below = 0;
    int notAbove = 0;
    for (int i = 0; i < count; i++) {
      float score = scores[i];
      while (below < otherCount && others[below] < score) {
        below++;
      }
      while (notAbove < otherCount && others[notAbove] <= score) {
        notAbove++;
      }
      long own = (long) below + notAbove;
      twice += own;
      // Welford's recurrence: no digits are lost where shares hardly differ.
      double share = own / (2.0 * otherCount);
      double away = share - mean;
      mean += away / (i + 1);
      squares += away * (share - mean);
    }
    return new Wins(twice, squares / (count - 1));
  }

  /** Forgets all rows. */
  public void clear() {
    positiveCount = 0;
    negativeCount = 0;
    lossSum = 0;
    probabilitySum = 0;
  }
}
