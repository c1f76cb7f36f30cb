package dev.tern.data.encode;

import java.util.ArrayList;
import java.util.List;

/** How a dense column becomes a feature. Encodings are fitted on the training data only. */
public sealed interface NumberEncoding {
  /**
   * Standardised, and before that {@code log(1 + x)} where the training data have no negative
   * number and a skewness above 2. An encoder that was fitted says by {@link Scaled} which it was.
   *
   * @param fill what a missing number becomes; 0 is the mean
   */
  record Auto(float fill) implements NumberEncoding {
    public Auto {
      requireFinite(fill, "fill");
    }
  }

  /**
   * A number. With {@code log1p} it is first {@code sign(x) log(1 + |x|)}; with {@code standardize}
   * then {@code (x - mean) / deviation}, both of the training data. A missing number becomes {@code
   * fill}, which is not transformed: 0 is the mean of standardised numbers.
   */
  record Scaled(boolean log1p, boolean standardize, float fill) implements NumberEncoding {
    public Scaled {
      requireFinite(fill, "fill");
    }
  }

  /**
   * A slot of its own with one id in each row: 1 to at most {@code count} for buckets that have
   * about the same number of rows of the training data, 0 for a missing number. Boundaries are
   * accurate to one part in 2048. If many rows share a value there may be fewer buckets.
   */
  record Quantiles(int count) implements NumberEncoding {
    public Quantiles {
      if (count < 2 || count > 1_000_000) {
        throw new IllegalArgumentException(
            "quantiles: got " + count + " buckets, expected 2 to 1000000");
      }
    }
  }

  /**
   * A slot of its own with one id in each row: 1 + the number of {@code values} up to the number, 0
   * for a missing number. Example: with values 10 and 20, the number 10 has id 2. {@code values}
   * ascend.
   */
  record Boundaries(List<Float> values) implements NumberEncoding {
    public Boundaries {
      values = List.copyOf(values);
      for (int i = 0; i < values.size(); i++) {
        requireFinite(values.get(i), "boundary");
        if (i > 0 && values.get(i) <= values.get(i - 1)) {
          throw new IllegalArgumentException(
              "boundaries: got %s after %s, expected ascending numbers"
                  .formatted(values.get(i), values.get(i - 1)));
        }
      }
    }
  }

  /** {@link Auto}; 0, the mean, where missing. */
  static NumberEncoding auto() {
    return new Auto(0);
  }

  /** The number as it is; 0 where missing. */
  static NumberEncoding none() {
    return new Scaled(false, false, 0);
  }

  /** {@code sign(x) log(1 + |x|)}; 0 where missing. */
  static NumberEncoding log1p() {
    return new Scaled(true, false, 0);
  }

  /** Mean 0 and deviation 1 over the training data; 0 where missing. */
  static NumberEncoding standardize() {
    return new Scaled(false, true, 0);
  }

  /** {@link #log1p()}, then {@link #standardize()}. */
  static NumberEncoding log1pStandardize() {
    return new Scaled(true, true, 0);
  }

  /** About {@code count} buckets of equally many rows. */
  static NumberEncoding quantiles(int count) {
    return new Quantiles(count);
  }

  /** Buckets between the ascending {@code values}. */
  static NumberEncoding boundaries(float... values) {
    List<Float> list = new ArrayList<>(values.length);
    for (float value : values) {
      list.add(value);
    }
    return new Boundaries(list);
  }

  private static void requireFinite(float value, String what) {
    if (!Float.isFinite(value)) {
      throw new IllegalArgumentException(what + ": got " + value + ", expected a finite number");
    }
  }
}
