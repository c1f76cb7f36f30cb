package dev.tern.metrics;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * How well scores predict labels of 0 and 1. Collects rows, one float each, and computes exact
 * figures. The figures depend on the rows and their order, not on how many a call adds. Not
 * thread-safe.
 *
 * <p>A row may have a weight: all figures are then those of data in which it stands so many times.
 * A row may have a {@linkplain #ofSoftLabels soft label} {@code y}, a share of clicks: it is then
 * {@code y} of a row labelled 1 and {@code 1 - y} of a row labelled 0, both of its score. For
 * example, an ad that was shown 10 times and clicked 3 times, as one row with the label 0.3 and the
 * weight 10, gives the figures of its 10 views as rows. Rows with weights or soft labels take 8
 * bytes or 16.
 */
public final class Metrics {
  /**
   * Scores of the rows labelled 1, in order of arrival until sorted; then of the rows labelled 0.
   */
  private float[] positives = new float[1024];

  private float[] negatives = new float[1024];
  private int positiveCount;
  private int negativeCount;
  private long rows;
  private double weightSum;
  private double labelSum;
  private double lossSum;
  private double probabilitySum;
  private boolean hasLogits;
  private boolean hasProbabilities;

  /** All scores, from the first row on that has a weight other than 1 or a soft label. */
  private @Nullable WeightedAuc weighted;

  private final boolean soft;

  /** Metrics of labels 0 and 1. */
  public Metrics() {
    this(false);
  }

  private Metrics(boolean soft) {
    this.soft = soft;
  }

  /** Metrics of labels in [0, 1]. */
  public static Metrics ofSoftLabels() {
    return new Metrics(true);
  }

  /**
   * Figures of the rows so far.
   *
   * @param rows rows
   * @param positives rows labelled 1; of soft labels, those above 1/2
   * @param positiveRate share of rows labelled 1, by weight; of soft labels, their mean
   * @param auc area under the ROC curve: of all pairs of a row labelled 1 and a row labelled 0, the
   *     share in which the row labelled 1 scores higher; ties count half; NaN without such pairs. A
   *     pair counts as often as the product of its weights
   * @param aucDeviation standard deviation of {@code auc} over samples like these rows (DeLong,
   *     DeLong and Clarke-Pearson, Biometrics 44, 1988), of rows with weights as {@link
   *     PairedMetrics} says; NaN where fewer than two rows have one of the labels, and of soft
   *     labels, for which it is not known
   * @param logLoss mean of {@code -log(probability of the label)} by weight, of a soft label {@code
   *     y} {@code -y log(p) - (1 - y) log(1 - p)}; NaN without rows
   * @param calibration sum of predicted probabilities over sum of labels, both by weight; NaN
   *     without rows, infinite where none is labelled 1
   */
  public record Result(
      long rows,
      long positives,
      double positiveRate,
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
      double p = positiveRate;
      double entropy = -p * Math.log(p) - (1 - p) * Math.log1p(-p);
      return logLoss / entropy;
    }

    /**
     * Relative cross entropy: {@code 100 (1 - normalizedEntropy)}, the percentage of the log loss
     * of the constant {@link #positiveRate} that the scores save (Belli et al., "Privacy-Aware
     * Recommender Systems Challenge on Twitter's Home Timeline", 2020). For example, 12 where the
     * normalized entropy is 0.88; below 0 where the rate alone does better.
     */
    public double relativeCrossEntropy() {
      return 100 * (1 - normalizedEntropy());
    }
  }

  /**
   * Adds {@code count} rows.
   *
   * @param logits log-odds of label 1; may be infinite
   * @param labels 0 or 1, soft ones 0 to 1
   * @throws IllegalArgumentException if a logit is NaN or a label is another; rows before it are
   *     added
   */
  public void addLogits(float[] logits, float[] labels, int count) {
    for (int i = 0; i < count; i++) {
      addLogit(logits[i], labels[i], 1, i);
    }
  }

  /**
   * Adds {@code count} rows with weights.
   *
   * @param weights how often each row counts: finite, 0 or more
   * @throws IllegalArgumentException as the form without, or if a weight is another; rows before it
   *     are added
   */
  public void addLogits(float[] logits, float[] labels, float[] weights, int count) {
    for (int i = 0; i < count; i++) {
      addLogit(logits[i], labels[i], weights[i], i);
    }
  }

  /** Adds a row, number {@code index} of a call. */
  void addLogit(float logit, float label, float weight, int index) {
    if (Float.isNaN(logit)) {
      throw wrong(
          "score",
          index,
          logit,
          "a number; look for huge values among the features of the row, or lower the learning rate"
              + " where training diverged");
    }
    requireRow(label, weight, index);
    hasLogits = true;
    double exp = StrictMath.exp(-Math.abs((double) logit));
    double rest = StrictMath.log1p(exp);
    double ofPositive = Math.max(-logit, 0) + rest;
    double ofNegative = Math.max(logit, 0) + rest;
    add(
        logit,
        label,
        weight,
        mixed(label, ofPositive, ofNegative),
        (logit >= 0 ? 1 : exp) / (1 + exp));
  }

  /**
   * Adds {@code count} rows.
   *
   * @param probabilities of label 1, in [0, 1]
   * @param labels 0 or 1, soft ones 0 to 1
   * @throws IllegalArgumentException if a probability or label is out of range; rows before it are
   *     added
   */
  public void addProbabilities(float[] probabilities, float[] labels, int count) {
    for (int i = 0; i < count; i++) {
      addProbability(probabilities[i], labels[i], 1, i);
    }
  }

  /** As {@link #addLogits(float[], float[], float[], int)}, of probabilities in [0, 1]. */
  public void addProbabilities(float[] probabilities, float[] labels, float[] weights, int count) {
    for (int i = 0; i < count; i++) {
      addProbability(probabilities[i], labels[i], weights[i], i);
    }
  }

  private void addProbability(float probability, float label, float weight, int index) {
    if (!(probability >= 0 && probability <= 1)) {
      throw wrong("probability", index, probability, "0 to 1");
    }
    requireRow(label, weight, index);
    hasProbabilities = true;
    double ofPositive = -StrictMath.log(probability);
    double ofNegative = -StrictMath.log1p(-(double) probability);
    add(probability, label, weight, mixed(label, ofPositive, ofNegative), probability);
  }

  /** The loss of a row, where that of a label may be infinite. */
  private static double mixed(float label, double ofPositive, double ofNegative) {
    if (label == 1 || label == 0) {
      return label == 1 ? ofPositive : ofNegative;
    }
    return label * ofPositive + (1 - (double) label) * ofNegative;
  }

  private void requireRow(float label, float weight, int index) {
    if (soft ? !(label >= 0 && label <= 1) : label != 0 && label != 1) {
      throw wrong("label", index, label, soft ? "0 to 1" : "0 or 1");
    }
    if (!(weight >= 0 && weight < Float.POSITIVE_INFINITY)) {
      throw wrong("weight", index, weight, "a finite number of 0 or more");
    }
  }

  private void add(float score, float label, float weight, double loss, double probability) {
    keep(score, label, weight);
    rows++;
    if (weight == 0) {
      return; // Its loss may be infinite.
    }
    weightSum += weight;
    labelSum += (double) weight * label;
    lossSum += weight * loss;
    probabilitySum += weight * probability;
  }

  private IllegalArgumentException wrong(String what, int index, float got, String expected) {
    return new IllegalArgumentException(
        "metrics: got the %s %s in row %d (%d of this call), expected %s"
            .formatted(what, got, rows, index, expected));
  }

  private void keep(float score, float label, float weight) {
    if (weighted == null && (weight != 1 || label != 0 && label != 1)) {
      weighted = new WeightedAuc();
      weighted.addAll(positives, positiveCount, 1);
      weighted.addAll(negatives, negativeCount, 0);
    }
    if (weighted != null) {
      weighted.add(score, label, weight);
      positiveCount += label > 0.5f ? 1 : 0;
    } else if (label == 1) {
      positives = withRoom(positives, positiveCount);
      positives[positiveCount++] = score + 0.0f; // Adding 0 turns -0 into 0, which it equals.
    } else {
      negatives = withRoom(negatives, negativeCount);
      negatives[negativeCount++] = score + 0.0f;
    }
  }

  private static float[] withRoom(float[] scores, int count) {
    return count < scores.length ? scores : Arrays.copyOf(scores, room(count));
  }

  /** The room for more than {@code count} rows of one label. */
  static int room(int count) {
    if (count > Integer.MAX_VALUE - 16) {
      throw new IllegalArgumentException(
          "metrics: got more than %d rows of one label, expected fewer; evaluate on part of the data"
              .formatted(count));
    }
    return (int) Math.min(2L * count, Integer.MAX_VALUE - 8);
  }

  /** The figures of the rows added since the last {@link #clear}; more rows may follow. */
  public Result result() {
    if (weighted != null) {
      return result(weighted.value(), soft ? Double.NaN : Math.sqrt(weighted.variance()));
    }
    sort();
    Wins above = wins(positives, positiveCount, negatives, negativeCount);
    Wins below = wins(negatives, negativeCount, positives, positiveCount);
    double variance = above.variance() / positiveCount + below.variance() / negativeCount;
    double auc = above.twice() / (2.0 * positiveCount * negativeCount);
    return result(auc, Math.sqrt(variance));
  }

  private Result result(double auc, double deviation) {
    return new Result(
        rows,
        positiveCount,
        labelSum / weightSum,
        auc,
        deviation,
        lossSum / weightSum,
        probabilitySum / labelSum);
  }

  private void sort() {
    Arrays.sort(positives, 0, positiveCount);
    Arrays.sort(negatives, 0, negativeCount);
  }

  /**
   * How the predictions of the rows since the last {@link #clear} compare with their labels; more
   * rows may follow. Needs no more memory than {@link #result}.
   *
   * @param bins 1 to 10,000
   * @throws IllegalStateException if some rows have logits and others probabilities, which have no
   *     order
   */
  public Reliability reliability(int bins) {
    if (hasLogits && hasProbabilities) {
      throw new IllegalStateException(
          "metrics: got logits of some rows and probabilities of others, expected one of both; add"
              + " all rows by the same method");
    }
    DoubleUnaryOperator probability = hasProbabilities ? score -> score : Metrics::probability;
    if (weighted != null) {
      return weighted.reliability(probability, bins);
    }
    sort();
    return Reliability.of(
        new Reliability.Plain(positives, positiveCount),
        new Reliability.Plain(negatives, negativeCount),
        probability,
        bins);
  }

  private static double probability(double logit) {
    double exp = StrictMath.exp(-Math.abs(logit));
    return (logit >= 0 ? 1 : exp) / (1 + exp);
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
    weighted = null;
    rows = 0;
    weightSum = 0;
    labelSum = 0;
    lossSum = 0;
    probabilitySum = 0;
    hasLogits = false;
    hasProbabilities = false;
  }
}
