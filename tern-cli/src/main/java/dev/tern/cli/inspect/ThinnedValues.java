package dev.tern.cli.inspect;

import java.util.Arrays;

/**
 * Numbers of a column in bounded memory: all of them at first, then each second, each fourth and so
 * on, evenly over the rows. Least and greatest are of all numbers.
 */
final class ThinnedValues {
  private static final int MOST = 1 << 16;

  private float[] kept = new float[1024];
  private int size;
  private long step = 1;
  private long next;
  private long count;
  private long missing;
  private float least = Float.POSITIVE_INFINITY;
  private float greatest = Float.NEGATIVE_INFINITY;

  void add(float value) {
    if (Float.isNaN(value)) {
      missing++;
      return;
    }
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
    if (count++ != next) {
      return;
    }
    next += step;
    if (size == kept.length) {
      kept = Arrays.copyOf(kept, 2 * size);
    }
    kept[size++] = value;
    if (size == MOST) {
      for (int i = 0; i < size / 2; i++) {
        kept[i] = kept[2 * i];
      }
      size /= 2;
      step *= 2;
      next = size * step;
    }
  }

  /** The kept numbers in order. */
  float[] sorted() {
    float[] sorted = Arrays.copyOf(kept, size);
    Arrays.sort(sorted);
    return sorted;
  }

  /** Numbers that are there. */
  long count() {
    return count;
  }

  long missing() {
    return missing;
  }

  /** The least number; infinite without any. */
  float least() {
    return least;
  }

  float greatest() {
    return greatest;
  }

  /** The share of the numbers below {@code low} or above {@code high}; NaN without any. */
  double outside(float low, float high) {
    int outside = 0;
    for (int i = 0; i < size; i++) {
      outside += kept[i] < low || kept[i] > high ? 1 : 0;
    }
    return (double) outside / size;
  }
}
