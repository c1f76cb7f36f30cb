package dev.tern.internal.kernel.matmul;

import dev.tern.internal.memory.Memory;

/**
 * Pairwise dot products of the {@code n} vectors of {@code d} numbers in each sample (Naumov et al.
 * 2019, DLRM), and their gradient.
 *
 * <p>Forward, a sample X is transposed, and the tile kernel takes the transposed matrix as both
 * operands of X X<sup>T</sup>. Tiles above the diagonal are left out.
 *
 * <p>Backward, the gradients of the products are a triangle G, and the result is G X +
 * G<sup>T</sup> X. A tile first takes the terms of G, then the terms of its transpose. So every
 * number takes its terms in ascending order by fused multiply-add, for any vector length. The
 * diagonal and the padding of G are zeros. Zero times a number that is not finite is NaN, so a
 * sample with such numbers is computed again without the zeros.
 */
public abstract sealed class DotInteraction {
  private static final int ROWS = TileLoops.ROWS;

  final int n;
  final int d;

  /** Columns of a tile. */
  final int width = TileKernels.columns();

  private DotInteraction(int n, int d) {
    this.n = n;
    this.d = d;
  }

  /**
   * The products of the vectors of {@code [batch, n, d]}, as {@code [batch, n (n - 1) / 2]}. The
   * product of vectors i and j, j &lt; i, is at i (i - 1) / 2 + j.
   */
  public static DotInteraction forward(int n, int d) {
    return new Forward(n, d);
  }

  /** The gradient of {@link #forward} with respect to the vectors. */
  public static DotInteraction backward(int n, int d) {
    return new Backward(n, d);
  }

  /** Bytes of scratch memory for each thread, a multiple of 64. */
  public abstract long scratchBytes();

  /** Addresses of sample 0: vectors, gradients of products (only read backward), results. */
  public record Samples(long x, long gradient, long out) {}

  /**
   * Computes samples {@code from} to {@code to - 1}. Several threads may do so at once, each with
   * scratch memory of its own.
   *
   * @param scratch address of {@link #scratchBytes} bytes, 64-byte aligned
   */
  public void run(Samples samples, int from, int to, long scratch) {
    run(TileKernels.active(), samples, from, to, scratch);
  }

  abstract void run(TileKernel kernel, Samples samples, int from, int to, long scratch);

  private static int roundUp(int count, int unit) {
    return (count + unit - 1) / unit * unit;
  }

  private static final class Forward extends DotInteraction {
    /** Columns of the transposed sample and of its square; zeros fill those after the vectors. */
    private final int columns;

    private final long step;
    private final Packing packing;
    private final TileStrides strides;

    Forward(int n, int d) {
      super(n, d);
      columns = roundUp(roundUp(n, ROWS), width);
      step = 4L * columns;
      packing = new Packing(4L * d, 4, columns);
      strides = new TileStrides(4, step, step, step, false);
    }

    @Override
    public long scratchBytes() {
      return step * (d + columns);
    }

    @Override
    void run(TileKernel kernel, Samples samples, int from, int to, long scratch) {
      long square = scratch + step * d;
      long products = 2L * n * (n - 1);
      Memory.zero(scratch, step * d);
      for (int b = from; b < to; b++) {
        packing.interleave(kernel, samples.x + 4L * b * n * d, n, d, scratch);
        square(kernel, scratch, square);
        takeTriangle(kernel, square, samples.out + b * products);
      }
    }

    private void square(TileKernel kernel, long transposed, long square) {
      int i = 0;
      for (; i < n && i + ROWS <= width / 2 + 1; i += ROWS) {
        long left = transposed + 4L * i;
        kernel.loops().narrow(strides, left, transposed, square + i * step, d);
      }
      for (; i < n; i += ROWS) {
        long left = transposed + 4L * i;
        int last = Math.min(i + ROWS, n) - 1;
        for (int j = 0; j < last; j += width) {
          long target = square + i * step + 4L * j;
          kernel.loops().tile(strides, left, transposed + 4L * j, target, d);
        }
      }
    }

    private void takeTriangle(TileKernel kernel, long square, long out) {
      long target = out;
      for (int i = 1; i < n; i++) {
        kernel.blocks().copy(square + i * step, 0, target, 0, 1, i);
        target += 4L * i;
      }
    }
  }

  private static final class Backward extends DotInteraction {
    /** Bytes between rows of the triangle; zeros follow the numbers of each row. */
    private final long step;

    private final Panel wholePanel;
    private final Panel lastPanel;

    /** The square of a whole result. */
    private final RowDots.Shape square;

    Backward(int n, int d) {
      super(n, d);
      step = 4L * roundUp(n, ROWS);
      wholePanel = new Panel(width);
      lastPanel = new Panel(d % width);
      square = new RowDots.Shape(0, 0, n * d, false);
    }

    /** How panels of {@code count} columns are computed. */
    private final class Panel {
      private final boolean isNarrow;
      private final int columns;

      /** Whether tiles fit into the result. */
      private final boolean isWhole;

      /** Bytes between rows of X, or of the copy of its columns. */
      private final long rightStep;

      private final TileStrides byRows;
      private final TileStrides byColumns;

      Panel(int count) {
        isNarrow = count <= width / 2;
        columns = isNarrow ? width / 2 : width;
        isWhole = count == columns && n >= ROWS;
        rightStep = 4L * (count == columns ? d : columns);
        long cRow = 4L * (isWhole ? d : columns);
        byRows = new TileStrides(step, 4, rightStep, cRow, false);
        byColumns = new TileStrides(4, step, rightStep, cRow, true);
      }
    }

    @Override
    public long scratchBytes() {
      return edgeAt() + 4L * ROWS * width + 63 & -64;
    }

    /** Where columns of X that do not fill a tile are copied to. */
    private long panelAt() {
      return step * roundUp(n, ROWS) + 63 & -64;
    }

    /** Where a tile that does not fit into the result is computed. */
    private long edgeAt() {
      return panelAt() + 4L * n * width;
    }

    @Override
    void run(TileKernel kernel, Samples samples, int from, int to, long scratch) {
      long vectors = 4L * n * d;
      Memory.zero(scratch, panelAt());
      for (int b = from; b < to; b++) {
        putTriangle(kernel, samples.gradient + 2L * b * n * (n - 1), scratch);
        long x = samples.x + b * vectors;
        long out = samples.out + b * vectors;
        for (int j = 0; j < d; j += width) {
          panel(kernel, x, out, j, scratch);
        }
        long edge = scratch + edgeAt();
        kernel.rowDots().dots(square, out, out, edge, 1);
        if (!(Memory.getFloat(edge) <= Float.MAX_VALUE) && !isFinite(x)) {
          withoutZeros(x, out, scratch);
        }
      }
    }

    private boolean isFinite(long x) {
      for (int i = 0; i < n * d; i++) {
        if (!Float.isFinite(Memory.getFloat(x + 4L * i))) {
          return false;
        }
      }
      return true;
    }

    /** Computes the same sums without the terms of the diagonal. */
    private void withoutZeros(long x, long out, long triangle) {
      for (int i = 0; i < n; i++) {
        for (int j = 0; j < d; j++) {
          float sum = 0;
          for (int p = 0; p < n; p++) {
            long pair = triangle + (p < i ? i * step + 4L * p : p * step + 4L * i);
            float other = Memory.getFloat(x + 4L * (p * d + j));
            sum = p == i ? sum : Math.fma(Memory.getFloat(pair), other, sum);
          }
          Memory.setFloat(out + 4L * (i * d + j), sum);
        }
      }
    }

    private void putTriangle(TileKernel kernel, long gradient, long triangle) {
      long source = gradient;
      for (int i = 1; i < n; i++) {
        kernel.blocks().copy(source, 0, triangle + i * step, 0, 1, i);
        source += 4L * i;
      }
    }

    /** Columns of the result from {@code first} on: as many as a tile has, or the last ones. */
    private void panel(TileKernel kernel, long x, long out, int first, long scratch) {
      int count = Math.min(width, d - first);
      Panel panel = count == width ? wholePanel : lastPanel;
      long right = x + 4L * first;
      if (count < panel.columns) {
        right = scratch + panelAt();
        Memory.zero(right, panel.rightStep * n);
        kernel.blocks().copy(x + 4L * first, 4L * d, right, panel.rightStep, n, count);
      }
      for (int i = 0; i < n; i += ROWS) {
        // The last tile overlaps the one before rather than rows beyond the result.
        int row = panel.isWhole ? Math.min(i, n - ROWS) : i;
        long target = out + 4L * ((long) row * d + first);
        if (panel.isWhole) {
          tile(kernel, panel, row, right, target, scratch);
        } else {
          long edge = scratch + edgeAt();
          tile(kernel, panel, row, right, edge, scratch);
          int rows = Math.min(ROWS, n - row);
          kernel.blocks().copy(edge, panel.byRows.cRow, target, 4L * d, rows, count);
        }
      }
    }

    /**
     * Terms of the vectors up to the tile's last come from rows of the triangle, the other terms
     * from its columns. Numbers on the other side of the diagonal are zeros.
     */
    private void tile(
        TileKernel kernel, Panel panel, int first, long right, long c, long triangle) {
      int last = Math.min(first + ROWS, n);
      long rows = triangle + first * step;
      long columns = rows + 4L * first;
      long further = right + first * panel.rightStep;
      if (panel.isNarrow) {
        kernel.loops().narrow(panel.byRows, rows, right, c, last);
        kernel.loops().narrow(panel.byColumns, columns, further, c, n - first);
      } else {
        kernel.loops().rows(panel.byRows, rows, right, c, last);
        kernel.loops().tile(panel.byColumns, columns, further, c, n - first);
      }
    }
  }
}
