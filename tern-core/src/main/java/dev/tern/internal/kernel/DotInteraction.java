package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;

/** Pairwise dot products of the vectors of each row, and their gradient. */
public final class DotInteraction {
  private DotInteraction() {}

  /** Rows {@code from} to {@code to} of {@code [b, n, d]} into {@code [b, n (n - 1) / 2]}. */
  public static void forward(long x, long out, int from, int to, int n, int d) {
    int pairs = n * (n - 1) / 2;
    for (int b = from; b < to; b++) {
      long row = x + 4L * b * n * d;
      long target = out + 4L * b * pairs;
      for (int i = 1; i < n; i++) {
        for (int j = 0; j < i; j++, target += 4) {
          float sum = 0;
          long left = row + 4L * i * d;
          long right = row + 4L * j * d;
          for (int p = 0; p < d; p++) {
            sum = Math.fma(Memory.getFloat(left + 4L * p), Memory.getFloat(right + 4L * p), sum);
          }
          Memory.setFloat(target, sum);
        }
      }
    }
  }

  /** Gradient of {@link #forward} with respect to {@code x}. */
  public static void backward(long x, long gradient, long out, int from, int to, int n, int d) {
    int pairs = n * (n - 1) / 2;
    for (int b = from; b < to; b++) {
      long row = x + 4L * b * n * d;
      long target = out + 4L * b * n * d;
      long g = gradient + 4L * b * pairs;
      for (int i = 0; i < n; i++) {
        for (int p = 0; p < d; p++) {
          float sum = 0;
          for (int j = 0; j < n; j++) {
            if (j != i) {
              int high = Math.max(i, j);
              int low = Math.min(i, j);
              float weight = Memory.getFloat(g + 4L * (high * (high - 1) / 2 + low));
              sum = Math.fma(weight, Memory.getFloat(row + 4L * (j * d + p)), sum);
            }
          }
          Memory.setFloat(target + 4L * (i * d + p), sum);
        }
      }
    }
  }
}
