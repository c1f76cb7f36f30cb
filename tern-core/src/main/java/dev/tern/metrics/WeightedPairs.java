package dev.tern.metrics;

import java.util.Arrays;

/**
 * {@link PairedMetrics} of rows with weights. A figure is a quotient of weighted sums, {@code m =
 * sum(w x) / sum(w)}, and its variance over samples of {@code n} rows, each with its weight, is
 * nearly
 *
 * <pre>
 * n / (n - 1) * sum(w^2 (x - m)^2) / sum(w)^2
 * </pre>
 *
 * With equal weights it is that of a mean, the sample variance by {@code n}. For example, of {@code
 * x = 1, 3} with weights 3 and 1 the mean is 1.5, and the variance 2 * (9 * 0.25 + 2.25) / 16 =
 * 0.5625.
 */
final class WeightedPairs {
  private final Rows ones;
  private final Rows zeros;

  /** Scores of two models, and weights above 0, of {@code count} rows. */
  record Rows(float[] first, float[] second, float[] weights, int count) {
    double weight() {
      double sum = 0;
      for (int i = 0; i < count; i++) {
        sum += weights[i];
      }
      return sum;
    }

    /** The weighted mean of a number of each row. */
    double mean(double[] x) {
      double sum = 0;
      for (int i = 0; i < count; i++) {
        sum += weights[i] * x[i];
      }
      return sum / weight();
    }

    /** {@code sum(w^2 (x - mean)^2)}. */
    double squares(double[] x, double mean) {
      double sum = 0;
      for (int i = 0; i < count; i++) {
        double away = weights[i] * (x[i] - mean);
        sum += away * away;
      }
      return sum;
    }

    /** The variance of the weighted mean; NaN below two rows. */
    double variance(double[] x) {
      double weight = weight();
      return scale(count) * squares(x, mean(x)) / (weight * weight);
    }
  }

  WeightedPairs(Rows ones, Rows zeros) {
    this.ones = ones;
    this.zeros = zeros;
  }

  private static double scale(double rows) {
    return rows < 2 ? Double.NaN : rows / (rows - 1);
  }

  /**
   * The weighted mean, over the rows labelled 1, of the weighted share of the rows labelled 0
   * below.
   */
  PairedMetrics.Difference auc() {
    double[] first = below(ones.first(), ones.count(), zeros.first(), zeros);
    double[] second = below(ones.second(), ones.count(), zeros.second(), zeros);
    double ofFirst = ones.mean(first);
    double ofSecond = ones.mean(second);
    double variance = ones.variance(minus(first, second));
    first = below(zeros.first(), zeros.count(), ones.first(), ones);
    second = below(zeros.second(), zeros.count(), ones.second(), ones);
    variance += zeros.variance(minus(first, second));
    return new PairedMetrics.Difference(ofFirst, ofSecond, Math.sqrt(variance));
  }

  private static double[] minus(double[] a, double[] b) {
    double[] difference = new double[a.length];
    for (int i = 0; i < a.length; i++) {
      difference[i] = a[i] - b[i];
    }
    return difference;
  }

  /** Of each score, the weight of the others below it and half of that of equal ones, by all. */
  private static double[] below(float[] scores, int count, float[] others, Rows of) {
    long[] order = new long[of.count()];
    for (int i = 0; i < order.length; i++) {
      int bits = Float.floatToRawIntBits(others[i]);
      order[i] = (long) (bits ^ (bits >> 31 & Integer.MAX_VALUE)) << 32 | i;
    }
    Arrays.sort(order);
    float[] sorted = new float[order.length];
    double[] weights = new double[order.length + 1];
    for (int i = 0; i < order.length; i++) {
      sorted[i] = others[(int) order[i]];
      weights[i + 1] = weights[i] + of.weights()[(int) order[i]];
    }
    double[] shares = new double[count];
    for (int i = 0; i < count; i++) {
      double below = weights[PairedMetrics.firstNotBelow(sorted, scores[i])];
      double notAbove = weights[PairedMetrics.firstAbove(sorted, scores[i])];
      shares[i] = (below + notAbove) / (2 * weights[order.length]);
    }
    return shares;
  }

  /** The weighted means of all rows' losses. */
  PairedMetrics.Difference logLoss() {
    double all = ones.weight() + zeros.weight();
    double first = sum(ones, ones.first(), 1) + sum(zeros, zeros.first(), 0);
    double second = sum(ones, ones.second(), 1) + sum(zeros, zeros.second(), 0);
    double[] ofOnes = lossDifferences(ones, 1);
    double[] ofZeros = lossDifferences(zeros, 0);
    double mean = (total(ones, ofOnes) + total(zeros, ofZeros)) / all;
    double squares = ones.squares(ofOnes, mean) + zeros.squares(ofZeros, mean);
    double variance = scale((double) ones.count() + zeros.count()) * squares / (all * all);
    return new PairedMetrics.Difference(first / all, second / all, Math.sqrt(variance));
  }

  private static double sum(Rows rows, float[] logits, float label) {
    double sum = 0;
    for (int i = 0; i < rows.count(); i++) {
      sum += rows.weights()[i] * PairedMetrics.loss(logits[i], label);
    }
    return sum;
  }

  private static double total(Rows rows, double[] x) {
    return rows.count() == 0 ? 0 : rows.mean(x) * rows.weight();
  }

  /** Two infinite losses of the same row are equally bad. */
  private static double[] lossDifferences(Rows rows, float label) {
    double[] differences = new double[rows.count()];
    for (int i = 0; i < differences.length; i++) {
      double first = PairedMetrics.loss(rows.first()[i], label);
      double second = PairedMetrics.loss(rows.second()[i], label);
      differences[i] = first == second ? 0 : first - second;
    }
    return differences;
  }
}
