package dev.tern.serve.http.metrics;

import java.util.Arrays;

/**
 * How the predictions of now differ from the first ones: the population stability index of their
 * histograms, and their means. The first {@link #WINDOW} predictions are the reference, and its
 * deciles cut all later ones into {@link #BINS} bins; each further window is compared with it as
 * soon as it is full:
 *
 * <pre>
 * PSI = sum over bins of (p - q) ln(p / q)
 * p = (n + 0.5) / (window + 0.5 bins) of the window with n predictions in the bin, q of the reference
 * </pre>
 *
 * <p>For example, two bins of equal halves at first and 60 and 40 percent of many predictions now:
 * {@code 0.1 ln 1.2 - 0.1 ln 0.8 = 0.041}. Below 0.1 is usual, above 0.25 another population. Not
 * calibration, as labels come later; but a mean that moved is calibration lost, unless the rate
 * did.
 */
final class DriftWatch {
  static final int WINDOW = 10_000;
  static final int BINS = 10;

  private final float[] first = new float[WINDOW];
  private final float[] edges = new float[BINS - 1];
  private final int[] expected = new int[BINS];
  private final int[] counts = new int[BINS];
  private int filled;
  private int count;
  private double sum;
  private double firstMean = Double.NaN;
  private Recent recent = new Recent(Double.NaN, Double.NaN);

  /**
   * The last full window beside the reference.
   *
   * @param psi population stability index; NaN before the first window is full
   * @param mean of its predictions
   */
  record Recent(double psi, double mean) {}

  /** Adds the finite ones of predictions {@code 0, stride, 2 stride, ...}. */
  synchronized void add(float[] predictions, int rows, int stride) {
    for (int row = 0; row < rows; row++) {
      float value = predictions[row * stride];
      if (Float.isFinite(value)) {
        add(value);
      }
    }
  }

  private void add(float value) {
    sum += value;
    if (filled < WINDOW) {
      first[filled++] = value;
      if (filled == WINDOW) {
        begin();
      }
      return;
    }
    counts[bin(value)]++;
    if (++count == WINDOW) {
      recent = new Recent(psi(expected, counts), sum / WINDOW);
      Arrays.fill(counts, 0);
      count = 0;
      sum = 0;
    }
  }

  private void begin() {
    firstMean = sum / WINDOW;
    sum = 0;
    Arrays.sort(first);
    for (int edge = 0; edge < edges.length; edge++) {
      edges[edge] = first[(edge + 1) * WINDOW / BINS];
    }
    for (float each : first) {
      expected[bin(each)]++;
    }
  }

  /** The number of edges that are at most {@code value}. */
  private int bin(float value) {
    int bin = 0;
    while (bin < edges.length && edges[bin] <= value) {
      bin++;
    }
    return bin;
  }

  /** Of two histograms of as many predictions. */
  static double psi(int[] expected, int[] counts) {
    double psi = 0;
    double all = Arrays.stream(counts).sum() + 0.5 * counts.length;
    double allExpected = Arrays.stream(expected).sum() + 0.5 * expected.length;
    for (int bin = 0; bin < counts.length; bin++) {
      double p = (counts[bin] + 0.5) / all;
      double q = (expected[bin] + 0.5) / allExpected;
      psi += (p - q) * Math.log(p / q);
    }
    return psi;
  }

  /** The mean of the reference; NaN before it is full. */
  synchronized double firstMean() {
    return firstMean;
  }

  synchronized Recent recent() {
    return recent;
  }
}
