package dev.tern.internal.kernel.matmul;

import dev.tern.base.Workers;
import dev.tern.internal.memory.Memory;

/**
 * The product of a matrix M and a vector, {@code y = M x} or {@code y += M x}, for a {@link MatMul}
 * whose C has one row or one column. It reads M once and packs nothing, as memory limits its speed.
 * Strides are bytes; element (i, p) of M is at {@code matrix + i * line + p * step}.
 */
final class VectorProduct {
  /** Most results of a task. */
  private static final int CHUNK = 512;

  private static final long WORTH_SHARING = 200_000;

  private final long line;
  private final long step;
  private final RowDots.Shape dots;
  private final int count;

  // The product at hand.
  private TileKernel kernel = TileKernels.active();
  private long matrix;
  private long x;
  private long y;
  private int size;

  private final Workers.Task computing = (index, worker) -> chunk(index * size);

  private VectorProduct(long line, long step, RowDots.Shape dots, int count) {
    this.line = line;
    this.step = step;
    this.dots = dots;
    this.count = count;
  }

  /** The product of A and the one column of B. */
  static VectorProduct byColumn(ProductSpec spec) {
    long line = 4 * spec.ars();
    RowDots.Shape dots = new RowDots.Shape(line, 4 * spec.ldc(), spec.k(), spec.accumulate());
    return new VectorProduct(line, 4 * spec.acs(), dots, spec.m());
  }

  /** The product of the one row of A and B. */
  static VectorProduct byRow(ProductSpec spec) {
    long line = 4 * spec.bcs();
    RowDots.Shape dots = new RowDots.Shape(line, 4, spec.k(), spec.accumulate());
    return new VectorProduct(line, 4 * spec.brs(), dots, spec.n());
  }

  /** Computes {@code y} at {@code results}; elements of {@code x} lie side by side. */
  void run(TileKernel tiles, Workers workers, long addressOfMatrix, long factors, long results) {
    kernel = tiles;
    matrix = addressOfMatrix;
    x = factors;
    y = results;
    if ((long) count * dots.k() >= WORTH_SHARING && workers.threads() > 1) {
      size = Math.clamp((count / workers.threads() + 63) & -64, 64, CHUNK);
      workers.run((count + size - 1) / size, computing);
    } else {
      size = count;
      chunk(0);
    }
  }

  private void chunk(int from) {
    int rows = Math.min(size, count - from);
    long yStep = dots.yStep();
    long part = matrix + from * line;
    long sums = y + from * yStep;
    boolean combine = line == 4 && yStep == 4;
    if (!combine && step == 4) {
      kernel.rowDots().dots(dots, part, x, sums, rows);
      return;
    }
    for (int i = 0; i < rows && !dots.accumulates(); i++) {
      Memory.setFloat(sums + i * yStep, 0);
    }
    if (combine) {
      kernel.blocks().combine(x, part, step, sums, rows, dots.k());
    } else {
      strided(part, sums, rows);
    }
  }

  /** Serves any strides; slow, and rarely needed. */
  private void strided(long part, long sums, int rows) {
    for (int i = 0; i < rows; i++) {
      long at = sums + i * dots.yStep();
      float sum = Memory.getFloat(at);
      for (int p = 0; p < dots.k(); p++) {
        sum =
            Math.fma(Memory.getFloat(part + i * line + p * step), Memory.getFloat(x + 4L * p), sum);
      }
      Memory.setFloat(at, sum);
    }
  }
}
