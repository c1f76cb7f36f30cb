package dev.tern.internal.kernel.matmul;

import dev.tern.base.Workers;
import dev.tern.internal.memory.Memory;
import java.util.Arrays;

/**
 * The products of few rows or up to {@link RunBlock#RUNS} with one matrix, {@code [m, k] x [k, n]},
 * all dense. Each element takes its terms in ascending order by fused multiply-add, as in {@link
 * MatMul}, whatever {@code m} is.
 */
final class StateProduct {
  /** Rows of products that are made ready; each serves fewer rows, too. */
  private static final int[] ROWS = {6, 12, 24, RunBlock.RUNS};

  /** Rows that are faster as combinations of rows of the matrix. */
  private static final int FEW = 2;

  private final int n;
  private final int k;
  private final MatMul[] products = new MatMul[ROWS.length];

  /**
   * Products of one thread.
   *
   * @param scratch address of {@link #scratchBytes} bytes, 64-byte aligned
   */
  StateProduct(int n, int k, long scratch) {
    this.n = n;
    this.k = k;
    Arrays.setAll(
        products,
        i -> {
          ProductSpec spec = new ProductSpec(k, 1, n, 1, n, ROWS[i], n, k, false);
          return new MatMul(Workers.of(1), spec, scratch, Epilogue.NONE);
        });
  }

  /** Bytes of scratch memory. */
  static long scratchBytes(int n, int k) {
    return Arrays.stream(ROWS).mapToLong(m -> MatMul.scratchBytes(m, n, k, 1)).max().orElse(0);
  }

  /**
   * Computes {@code m} rows of {@code c}; the rows behind them, up to {@link RunBlock#RUNS}, may
   * change.
   */
  void run(long a, long b, long c, int m) {
    if (m > FEW && n > 1 && k > 1) {
      int form = 0;
      while (ROWS[form] < m) {
        form++;
      }
      products[form].run(a, b, c);
      return;
    }
    BlockKernel blocks = TileKernels.active().blocks();
    Memory.zero(c, 4L * m * n);
    for (int i = 0; i < m; i++) {
      blocks.combine(a + 4L * i * k, b, 4L * n, c + 4L * i * n, n, k);
    }
  }
}
