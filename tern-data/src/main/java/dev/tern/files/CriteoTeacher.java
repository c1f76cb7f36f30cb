package dev.tern.files;

import java.util.Arrays;

/**
 * What the generated rows are drawn from. Every draw is a hash of (seed, row, column), so a row is
 * the same whoever generates it; only exact operations of IEEE 754 and {@link StrictMath} take
 * part, so it is the same on every machine.
 *
 * <p>Number {@code d} of a row is a count, {@code x = floor(exp(mu[d] + sigma[d] g))} with {@code
 * g} nearly normal, or missing. The id of slot {@code s} is a rank from a power law of exponent 1.2
 * cut at the slot's cardinality: {@code rank = floor((1 - u (1 - n^(-1/5)))^(-5)) - 1}, whose
 * inverse needs no logarithm.
 *
 * <p>The logit of a row is {@code bias + spread (dense + ids + pairs)}: slopes on the standardised
 * ln(x + 1), an effect for each id, and inner products of two-dimensional vectors of the ids of
 * paired slots, so a factorization machine can express it. Effects fade with rank, {@code 1 / (1 +
 * rank / 10)}, and end at rank 500: what is rare enough to be seen a few times only matters little.
 * The three parts are given their shares of the variance, and spread and bias solved for, on rows
 * of a stream of their own.
 */
final class CriteoTeacher {
  static final int DENSE = 13;
  static final int SLOTS = 26;

  private static final double BASE_RATE = 0.25;
  private static final double BEST_AUC = 0.80;
  private static final double[] SHARES = {0.35, 0.50, 0.15};
  private static final int HEAD = 500;
  private static final double HALF_RANK = 10;
  private static final int CALIBRATION_ROWS = 8192;
  private static final long CALIBRATION = 0x5DEECE66DL;
  private static final int[][] PAIRS = {{5, 13}, {16, 21}, {22, 24}};

  private static final double[] MU = {
    0.8, 1.5, 2.0, 1.6, 7.0, 3.5, 1.8, 2.0, 4.0, 0.2, 0.9, 0.1, 1.7
  };
  private static final double[] SIGMA = {
    1.0, 1.6, 1.2, 0.8, 1.7, 1.4, 1.2, 0.9, 1.2, 0.5, 0.9, 0.8, 0.9
  };
  private static final double[] MISSING = {
    0.45, 0, 0.21, 0.22, 0.03, 0.22, 0.04, 0, 0.04, 0.45, 0.04, 0.76, 0.22
  };

  private final long seed;
  private final double[] tail = new double[SLOTS];
  private final double[] slopes = new double[DENSE];
  private final double[][] effects = new double[SLOTS][];
  private final double[][] vectors = new double[SLOTS][];
  private final double[] scales = new double[SHARES.length];
  private double spread;
  private double bias;

  CriteoTeacher(long seed, int[] cardinalities) {
    this.seed = seed;
    for (int s = 0; s < SLOTS; s++) {
      tail[s] = 1 - 1 / StrictMath.sqrt(cardinalities[s] + 1.0);
      fillEffects(s, Math.min(HEAD, cardinalities[s]));
    }
    for (int d = 0; d < DENSE; d++) {
      slopes[d] = normal(mix(mix(seed) + 1000 + d));
    }
    calibrate();
  }

  private void fillEffects(int slot, int head) {
    effects[slot] = new double[head];
    vectors[slot] = new double[2 * head];
    for (int rank = 0; rank < head; rank++) {
      double size = 1 / (1 + rank / HALF_RANK);
      long key = mix(mix(seed + slot) ^ rank);
      effects[slot][rank] = size * normal(mix(key + 1));
      vectors[slot][2 * rank] = size * normal(mix(key + 2));
      vectors[slot][2 * rank + 1] = size * normal(mix(key + 3));
    }
  }

  /** Draws row {@code row} into {@code dense} and {@code ranks}; returns its true probability. */
  double draw(long row, float[] dense, int[] ranks) {
    double[] parts = new double[SHARES.length];
    draw(seed, row, dense, ranks, parts);
    return 1 / (1 + StrictMath.exp(-logit(parts)));
  }

  /** True where the label of {@code row}, whose probability is given, is 1. */
  boolean label(long row, double probability) {
    return uniform(mix(mix(seed ^ mix(row)) - 1)) < probability;
  }

  private void draw(long stream, long row, float[] dense, int[] ranks, double[] parts) {
    long state = mix(stream ^ mix(row));
    parts[0] = 0;
    for (int d = 0; d < DENSE; d++) {
      boolean missing = uniform(mix(state + 2L * d)) < MISSING[d];
      dense[d] = missing ? Float.NaN : count(d, mix(state + 2L * d + 1));
      parts[0] += missing ? 0 : slopes[d] * (StrictMath.log1p(dense[d]) - MU[d]) / SIGMA[d];
    }
    parts[1] = 0;
    for (int s = 0; s < SLOTS; s++) {
      double rest = 1 - uniform(mix(state + 100 + s)) * tail[s];
      int rank = (int) (1 / (rest * rest)) - 1;
      ranks[s] = rank;
      parts[1] += rank < effects[s].length ? effects[s][rank] : 0;
    }
    parts[2] = 0;
    for (int[] pair : PAIRS) {
      parts[2] += product(pair[0], ranks[pair[0]], pair[1], ranks[pair[1]]);
    }
  }

  private static float count(int d, long bits) {
    return (float) Math.floor(StrictMath.exp(MU[d] + SIGMA[d] * normal(bits)));
  }

  private double product(int left, int leftRank, int right, int rightRank) {
    double[] a = vectors[left];
    double[] b = vectors[right];
    if (2 * leftRank >= a.length || 2 * rightRank >= b.length) {
      return 0;
    }
    return a[2 * leftRank] * b[2 * rightRank] + a[2 * leftRank + 1] * b[2 * rightRank + 1];
  }

  private double logit(double[] parts) {
    double sum = 0;
    for (int i = 0; i < parts.length; i++) {
      sum += scales[i] * parts[i];
    }
    return bias + spread * sum;
  }

  /**
   * Scales the parts to their shares, then finds spread and bias for the best AUC and base rate.
   */
  private void calibrate() {
    double[][] parts = new double[CALIBRATION_ROWS][SHARES.length];
    float[] dense = new float[DENSE];
    int[] ranks = new int[SLOTS];
    for (int row = 0; row < CALIBRATION_ROWS; row++) {
      draw(seed ^ CALIBRATION, row, dense, ranks, parts[row]);
    }
    for (int i = 0; i < SHARES.length; i++) {
      scales[i] = StrictMath.sqrt(SHARES[i] / variance(parts, i));
    }
    spread = 1;
    double[] sums = Arrays.stream(parts).mapToDouble(this::logit).sorted().toArray();
    double low = 0.1;
    double high = 10;
    for (int step = 0; step < 20; step++) {
      spread = (low + high) / 2;
      bias = solveBias(sums, spread);
      if (expectedAuc(sums, spread, bias) < BEST_AUC) {
        low = spread;
      } else {
        high = spread;
      }
    }
  }

  private static double variance(double[][] parts, int i) {
    double mean = Arrays.stream(parts).mapToDouble(p -> p[i]).sum() / parts.length;
    double sum = 0;
    for (double[] p : parts) {
      sum += (p[i] - mean) * (p[i] - mean);
    }
    return sum / parts.length;
  }

  private static double solveBias(double[] sums, double spread) {
    double low = -30;
    double high = 30;
    for (int step = 0; step < 25; step++) {
      double middle = (low + high) / 2;
      double rate = 0;
      for (double sum : sums) {
        rate += 1 / (1 + StrictMath.exp(-middle - spread * sum));
      }
      if (rate < BASE_RATE * sums.length) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return (low + high) / 2;
  }

  /** AUC of ascending logits when labels are drawn from their own probabilities. */
  private static double expectedAuc(double[] sums, double spread, double bias) {
    double negatives = 0;
    double positives = 0;
    double ordered = 0;
    for (double sum : sums) {
      double p = 1 / (1 + StrictMath.exp(-bias - spread * sum));
      ordered += p * negatives;
      negatives += 1 - p;
      positives += p;
    }
    return ordered / (positives * negatives);
  }

  /** Uniform in [0, 1), 53 bits. */
  private static double uniform(long bits) {
    return (bits >>> 11) * 0x1p-53;
  }

  /** Nearly normal, of mean 0 and variance 1: the sum of four uniform numbers of 16 bits. */
  private static double normal(long bits) {
    long sum = (bits & 0xFFFF) + (bits >>> 16 & 0xFFFF) + (bits >>> 32 & 0xFFFF) + (bits >>> 48);
    return (sum + 2 - 2 * 65536) * (StrictMath.sqrt(3) / 65536);
  }

  /** The finalizer of SplitMix64 (Steele, Lea, Flood, 2014) after one step of its sequence. */
  private static long mix(long value) {
    long z = value + 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }
}
