package dev.tern.files;

import java.util.Arrays;

/**
 * What a perfect model of a generated set would reach: one that scores each row with its true
 * probability.
 *
 * @param rows rows of the set
 * @param positiveRate share of rows with label 1
 * @param auc area under the ROC curve of true probabilities against drawn labels, ties counting
 *     half; NaN where all labels are equal
 * @param logLoss mean of -ln of the true probability of the drawn label
 */
public record Optimum(long rows, double positiveRate, double auc, double logLoss) {
  /** Exact, from the true probabilities of rows of each label; both arrays are sorted. */
  static Optimum of(double[] positives, double[] negatives) {
    double loss = 0;
    for (double p : positives) {
      loss -= StrictMath.log(p);
    }
    for (double p : negatives) {
      loss -= StrictMath.log1p(-p);
    }
    long rows = (long) positives.length + negatives.length;
    return new Optimum(
        rows, (double) positives.length / rows, auc(positives, negatives), loss / rows);
  }

  private static double auc(double[] positives, double[] negatives) {
    Arrays.sort(positives);
    Arrays.sort(negatives);
    long twice = 0;
    int below = 0;
    int upTo = 0;
    for (double p : positives) {
      while (below < negatives.length && negatives[below] < p) {
        below++;
      }
      while (upTo < negatives.length && negatives[upTo] <= p) {
        upTo++;
      }
      twice += below + upTo;
    }
    return twice / 2.0 / ((double) positives.length * negatives.length);
  }
}
