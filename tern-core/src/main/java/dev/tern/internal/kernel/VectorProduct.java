package dev.tern.internal.kernel;

import dev.tern.base.Workers;
import dev.tern.internal.memory.Memory;

/**
 * Product of a matrix and one vector, y = M x (+ y), and by exchange of roles of one row and a
 * matrix: what {@link MatMul} becomes when C has one row or one column. It reads M once, so it is
 * bound by memory, and packs nothing. Strides are bytes; element (i, p) of M is at {@code matrix +
 * i * line + p * step}.
 */
final class VectorProduct {
  /** Outputs per task. */
  private static final int CHUNK = 512;

  private static final long WORTH_SHARING = 200_000;

  private final long line;
  private final long step;
  private final long yStep;
  private final int count;
  private final int k;
  private final boolean accumulate;
  private final Workers.Task computing = this::task;

  // The product at hand.
  private TileKernel kernel = Tiles.active();
  private long matrix;
  private long x;
  private long y;
  private int size;

  VectorProduct(long line, long step, long yStep, int count, int k, boolean accumulate) {
    this.line = line;
    this.step = step;
    this.yStep = yStep;
    this.count = count;
    this.k = k;
    this.accumulate = accumulate;
  }

  /**
   * Computes y.
   *
   * @param factors address of x, side by side
   */
  void run(TileKernel tiles, Workers workers, long addressOfMatrix, long factors, long results) {
    kernel = tiles;
    matrix = addressOfMatrix;
    x = factors;
    y = results;
    if ((long) count * k >= WORTH_SHARING && workers.threads() > 1) {
      size = Math.clamp((count / workers.threads() + 63) & -64, 64, CHUNK);
      workers.run((count + size - 1) / size, computing);
    } else {
      size = count;
      chunk(0);
    }
  }

  private void task(int index, int worker) {
    chunk(index * size);
  }

  private void chunk(int from) {
    int rows = Math.min(size, count - from);
    long part = matrix + from * line;
    long sums = y + from * yStep;
    boolean combine = line == 4 && yStep == 4;
    if (!combine && step == 4) {
      kernel.rowDots().dots(part, line, x, sums, yStep, rows, k, accumulate);
      return;
    }
    for (int i = 0; i < rows && !accumulate; i++) {
      Memory.setFloat(sums + i * yStep, 0);
    }
    if (combine) {
      kernel.blocks().combine(x, part, step, sums, rows, k);
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
