package dev.tern.data.encode;

import java.util.ArrayList;
import java.util.List;

/** How a dense column becomes a feature. What is fitted is fitted on training data only. */
public sealed interface NumberEncoding {
  /**
   * Stays a number: first {@code sign(x) log(1 + |x|)} if {@code log1p}, then {@code (x - mean) /
   * deviation} of the training data if {@code standardize}. A missing number becomes {@code fill},
   * which is not transformed: 0 is the mean where numbers are standardised.
   */
  record Scaled(boolean log1p, boolean standardize, float fill) implements NumberEncoding {
    public Scaled {
      requireFinite(fill, "fill");
    }
  }

  /**
   * Moves to a slot of its own with one id a row: 1 to at most {@code count} for buckets that hold
   * about equally many rows of the training data, 0 for missing. Boundaries are accurate to one
   * part in 2048; values that many rows share may make buckets fewer.
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
   * Moves to a slot of its own with one id a row: 1 + the number of {@code values} that are at most
   * the number, 0 for missing. {@code values} ascend.
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
