package dev.tern.internal.kernel.ops;

import dev.tern.internal.kernel.ReductionLanes;
import dev.tern.internal.memory.Memory;

/** {@link PairKernel} without vectors, also for elements beyond whole vectors. */
final class ScalarPairs implements PairKernel {
  @Override
  public void forward(Row row, long x, long out, long scratch, int rows) {
    for (int b = 0; b < rows; b++) {
      ReductionLanes.fill(scratch, 0);
      elements(row, x + b * row.bytes(), scratch, 0);
      Memory.setFloat(out + 4L * b, 0.5f * ReductionLanes.total(scratch));
    }
  }

  /** Adds the elements from {@code from} on to the lanes. */
  static void elements(Row row, long x, long scratch, int from) {
    for (int p = from; p < row.d(); p++) {
      float sum = sum(x + 4L * p, row.n(), row.d());
      ReductionLanes.sum(Math.fma(sum, sum, -squares(x + 4L * p, row.n(), row.d())), scratch, p);
    }
  }

  private static float sum(long element, int n, int d) {
    return quarter(element, 0, n, d)
        + quarter(element, 1, n, d)
        + (quarter(element, 2, n, d) + quarter(element, 3, n, d));
  }

  /** The sum of the element in every fourth vector. */
  private static float quarter(long element, int from, int n, int d) {
    float sum = 0;
    for (int j = from; j < n; j += 4) {
      sum += Memory.getFloat(element + 4L * j * d);
    }
    return sum;
  }

  private static float squares(long element, int n, int d) {
    return quarterOfSquares(element, 0, n, d)
        + quarterOfSquares(element, 1, n, d)
        + (quarterOfSquares(element, 2, n, d) + quarterOfSquares(element, 3, n, d));
  }

  private static float quarterOfSquares(long element, int from, int n, int d) {
    float sum = 0;
    for (int j = from; j < n; j += 4) {
      float value = Memory.getFloat(element + 4L * j * d);
      sum = Math.fma(value, value, sum);
    }
    return sum;
  }

  @Override
  public void backward(Row row, long x, long gradient, long out, int rows) {
    for (int b = 0; b < rows; b++) {
      long skip = b * row.bytes();
      gradients(row, x + skip, Memory.getFloat(gradient + 4L * b), out + skip, 0);
    }
  }

  /** The gradient of each vector's elements from {@code from} on. */
  static void gradients(Row row, long x, float gradient, long out, int from) {
    for (int p = from; p < row.d(); p++) {
      float sum = sum(x + 4L * p, row.n(), row.d());
      for (int j = 0; j < row.n(); j++) {
        long at = 4L * (j * (long) row.d() + p);
        Memory.setFloat(out + at, gradient * (sum - Memory.getFloat(x + at)));
      }
    }
  }
}
