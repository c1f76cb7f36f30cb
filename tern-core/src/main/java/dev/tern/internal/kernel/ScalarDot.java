package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;

/** {@link DotKernel} without vectors: where the Vector API is absent and until it is compiled. */
final class ScalarDot implements DotKernel {
  @Override
  public void forward(long x, long out, long scratch, int rows, int n, int d) {
    long row = x;
    long target = out;
    for (int b = 0; b < rows; b++, row += 4L * n * d) {
      for (int i = 1; i < n; i++) {
        for (int j = 0; j < i; j++, target += 4) {
          Memory.setFloat(target, product(row + 4L * i * d, row + 4L * j * d, d));
        }
      }
    }
  }

  private static float product(long left, long right, int d) {
    float sum = 0;
    for (int p = 0; p < d; p++) {
      sum = Math.fma(Memory.getFloat(left + 4L * p), Memory.getFloat(right + 4L * p), sum);
    }
    return sum;
  }

  @Override
  public void backward(long x, long gradient, long out, int rows, int n, int d) {
    long row = x;
    long weights = gradient;
    long target = out;
    for (int b = 0; b < rows; b++, row += 4L * n * d, weights += 2L * n * (n - 1)) {
      for (int i = 0; i < n; i++) {
        for (int p = 0; p < d; p++, target += 4) {
          Memory.setFloat(target, combination(row + 4L * p, weights, i, n, 4L * d));
        }
      }
    }
  }

  /**
   * One element of the gradient of vector {@code i}: the sum of the other vectors' elements, each
   * by the gradient of the product of the two vectors.
   *
   * @param element the element in vector 0; the next vector's is {@code stride} bytes on
   */
  static float combination(long element, long weights, int i, int n, long stride) {
    float sum = 0;
    long weight = weights + 2L * i * (i - 1);
    for (int j = 0; j < i; j++, weight += 4) {
      sum = Math.fma(Memory.getFloat(weight), Memory.getFloat(element + j * stride), sum);
    }
    weight += 4L * i;
    for (int j = i + 1; j < n; j++) {
      sum = Math.fma(Memory.getFloat(weight), Memory.getFloat(element + j * stride), sum);
      weight += 4L * j;
    }
    return sum;
  }
}
