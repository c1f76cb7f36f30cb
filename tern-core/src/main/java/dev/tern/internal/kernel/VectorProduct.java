package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import dev.tern.internal.runtime.Workers;

/**
 * Product of a matrix and one vector, y = M x (+ y), and by exchange of roles of one row and a
 * matrix: what {@link MatMul} becomes when C has one row or one column. It reads M once, so it is
 * bound by memory, and packs nothing. Strides are bytes; element (i, p) of M is at {@code matrix +
 * i * line + p * step}.
 */
record VectorProduct(
    TileKernel kernel,
    long matrix,
    long line,
    long step,
    long x,
    long y,
    long yStep,
    int count,
    int k,
    boolean accumulate) {

  /** Outputs per task. */
  private static final int CHUNK = 512;

  private static final long WORTH_SHARING = 200_000;

  void run(Workers workers) {
    boolean shared = (long) count * k >= WORTH_SHARING && workers.threads() > 1;
    int size = Math.clamp((count / workers.threads() + 63) & -64, 64, CHUNK);
    if (shared) {
      workers.run((count + size - 1) / size, (index, worker) -> chunk(index * size, size));
    } else {
      chunk(0, count);
    }
  }

  private void chunk(int from, int size) {
    int rows = Math.min(size, count - from);
    long part = matrix + from * line;
    long sums = y + from * yStep;
    boolean combine = line == 4 && yStep == 4;
    if (!combine && step == 4) {
      kernel.dots(part, line, x, sums, yStep, rows, k, accumulate);
      return;
    }
    for (int i = 0; i < rows && !accumulate; i++) {
      Memory.setFloat(sums + i * yStep, 0);
    }
    if (combine) {
      kernel.combine(x, part, step, sums, rows, k);
    } else {
      strided(part, sums, rows);
    }
  }

  /** Any strides: slow, and rare. */
  private void strided(long part, long sums, int rows) {
    for (int i = 0; i < rows; i++) {
      float sum = Memory.getFloat(sums + i * yStep);
      for (int p = 0; p < k; p++) {
        sum =
            Math.fma(Memory.getFloat(part + i * line + p * step), Memory.getFloat(x + 4L * p), sum);
      }
      Memory.setFloat(sums + i * yStep, sum);
    }
  }
}
