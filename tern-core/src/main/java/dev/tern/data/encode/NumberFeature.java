package dev.tern.data.encode;

import java.util.List;

/** A fitted {@link NumberEncoding}. Immutable. */
sealed interface NumberFeature {
  /** {@code (x - mean) / deviation}, of the logarithm of x if {@code log1p}. */
  record Scale(boolean log1p, double mean, double deviation, float fill) implements NumberFeature {
    /** Whole numbers from 0 up are counts, most often; their logarithms are kept. */
    private static final double[] LOG1P = new double[4096];

    static {
      for (int i = 0; i < LOG1P.length; i++) {
        LOG1P[i] = StrictMath.log1p(i);
      }
    }

    /** The feature of a finite number. */
    float apply(float x) {
      return (float) (((log1p ? log1p(x) : x) - mean) / deviation);
    }

    /** {@code sign(x) log(1 + |x|)}. */
    static double log1p(float x) {
      int whole = (int) x;
      if (whole == x && whole >= 0 && whole < LOG1P.length) {
        return LOG1P[whole];
      }
      return x < 0 ? -StrictMath.log1p(-(double) x) : StrictMath.log1p(x);
    }
  }

  /** Which of the buckets between ascending boundaries. */
  record Buckets(List<Float> values, float[] boundaries) implements NumberFeature {
    static Buckets of(List<Float> values) {
      float[] boundaries = new float[values.size()];
      for (int i = 0; i < boundaries.length; i++) {
        boundaries[i] = values.get(i);
      }
      return new Buckets(values, boundaries);
    }

    /** 1 + the number of boundaries at most {@code x}, a finite number. */
    int bucket(float x) {
      int low = 0;
      int high = boundaries.length;
      while (low < high) {
        int middle = low + high >>> 1;
        if (boundaries[middle] <= x) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low + 1;
    }
  }
}
