package dev.tern.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/**
 * How predicted probabilities compare with what came of them, in bins of rows with like
 * predictions. The rows in order of their scores are cut into bins of equally many rows; rows of
 * equal scores share a bin, that of their middle, so bins may differ and some may be without rows.
 *
 * <p>For example, two bins of the predictions 0.1, 0.2, 0.6, 0.9 with the labels 0, 0, 1, 0 have
 * the mean predictions 0.15 and 0.75 and the rates 0 and 0.5; their {@link #error} is {@code 0.5 *
 * 0.15 + 0.5 * 0.25 = 0.2}.
 *
 * @param bins with rows, by ascending prediction
 */
public record Reliability(List<Bin> bins) {
  /** How many bins an evaluation in training has. */
  public static final int BINS = 15;

  /** More bins than this say nothing that fewer do not. */
  private static final int MOST = 10_000;

  /** Copies the list. */
  public Reliability {
    bins = List.copyOf(bins);
  }

  /**
   * Rows with like predictions.
   *
   * @param rows rows, each as often as its weight says; above 0
   * @param positives of these, rows labelled 1; of soft labels, their sum
   * @param prediction mean predicted probability
   */
  public record Bin(double rows, double positives, double prediction) {
    /** Half the width of an interval of 95 percent, in deviations. */
    private static final double Z = 1.959964;

    /** Share of rows labelled 1. */
    public double rate() {
      return positives / rows;
    }

    /**
     * The lower end of an interval that holds the rate of all such rows in about 95 of 100 samples
     * (Wilson, "Probable Inference", 1927). For example, with 1 of 10 rows labelled 1 the interval
     * is 0.018 to 0.404.
     */
    public double low() {
      return positives == 0 ? 0 : Math.max(0, middle() - half());
    }

    /** The upper end of that interval. */
    public double high() {
      return positives == rows ? 1 : Math.min(1, middle() + half());
    }

    private double middle() {
      return (positives + Z * Z / 2) / (rows + Z * Z);
    }

    private double half() {
      double binomial = rate() * (rows - positives);
      return Z / (rows + Z * Z) * Math.sqrt(binomial + Z * Z / 4);
    }
  }

  /** All rows, each as often as its weight says. */
  public double rows() {
    return bins.stream().mapToDouble(Bin::rows).sum();
  }

  /**
   * The expected calibration error: the mean over rows of the distance between the rate of a row's
   * bin and the bin's mean prediction (Naeini et al. 2015, with bins of equally many rows as in
   * Nguyen and O'Connor 2015). 0 is ideal. Chance alone makes it about {@code 0.8 * sqrt(rate * (1
   * - rate) / rows)} with the rows of one bin: 0.004 for bins of 10,000 rows at a rate of 0.3. NaN
   * without rows.
   */
  public double error() {
    double sum = 0;
    for (Bin bin : bins) {
      sum += bin.rows() * Math.abs(bin.rate() - bin.prediction());
    }
    return sum / rows();
  }

  static void requireBins(int bins) {
    if (bins < 1 || bins > MOST) {
      throw new IllegalArgumentException(
          "reliability: got %d bins, expected 1 to %d; 15 are usual".formatted(bins, MOST));
    }
  }

  /**
   * The bins of rows.
   *
   * @param ones scores of the rows labelled 1
   * @param zeros scores of the rows labelled 0
   * @param probability of a score
   * @param bins 1 or more
   */
  static Reliability of(Sorted ones, Sorted zeros, DoubleUnaryOperator probability, int bins) {
    requireBins(bins);
    double[] rows = new double[bins];
    double[] positives = new double[bins];
    double[] sums = new double[bins];
    double all = weight(ones, 0, ones.count()) + weight(zeros, 0, zeros.count());
    double below = 0;
    int one = 0;
    int zero = 0;
    while (one < ones.count() || zero < zeros.count()) {
      float score = Math.min(at(ones, one), at(zeros, zero));
      int afterOne = after(ones, one, score);
      int afterZero = after(zeros, zero, score);
      double ofOnes = weight(ones, one, afterOne);
      double same = ofOnes + weight(zeros, zero, afterZero);
      // One division at the end, so that whole numbers of rows meet the ends of bins exactly.
      int bin = Math.min(bins - 1, (int) ((2 * below + same) * bins / (2 * all)));
      rows[bin] += same;
      positives[bin] += ofOnes;
      sums[bin] += same * probability.applyAsDouble(score);
      below += same;
      one = afterOne;
      zero = afterZero;
    }
    List<Bin> filled = new ArrayList<>();
    for (int bin = 0; bin < bins; bin++) {
      if (rows[bin] > 0) {
        filled.add(new Bin(rows[bin], positives[bin], sums[bin] / rows[bin]));
      }
    }
    return new Reliability(filled);
  }

  /** The score there; above all scores at the end. */
  private static float at(Sorted scores, int index) {
    return index < scores.count() ? scores.at(index) : Float.POSITIVE_INFINITY;
  }

  /** The first index from {@code from} on whose score is above {@code score}. */
  private static int after(Sorted scores, int from, float score) {
    int index = from;
    while (index < scores.count() && scores.at(index) <= score) {
      index++;
    }
    return index;
  }

  private static double weight(Sorted scores, int from, int to) {
    double sum = 0;
    for (int i = from; i < to; i++) {
      sum += scores.weight(i);
    }
    return sum;
  }

  /** Ascending scores. */
  interface Sorted {
    int count();

    float at(int index);

    /** How often the row counts, above 0. */
    float weight(int index);
  }

  /** The first {@code count} of {@code scores}, of rows that count once. */
  record Plain(float[] scores, int count) implements Sorted {
    @Override
    public float at(int index) {
      return scores[index];
    }

    @Override
    public float weight(int index) {
      return 1;
    }
  }
}
