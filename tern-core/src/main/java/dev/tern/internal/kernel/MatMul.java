package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import dev.tern.internal.runtime.Workers;
import java.lang.foreign.Arena;

/**
 * Products of F32 matrices by address: {@code C = A B} or {@code C += A B}. Strides are counted in
 * elements and may be any, so a transposed matrix is one with its strides exchanged; C has dense
 * rows and overlaps neither A nor B.
 *
 * <p>Every element starts from 0, or from its old value when accumulating, and takes its {@code k}
 * terms in ascending order, each by one fused multiply-add; where C has one row or column and the
 * terms lie side by side, by {@link TileKernel#dots} in 16 sums. So neither the vector length, nor
 * the lack of vectors, nor the number of threads shows in the result.
 */
public final class MatMul {
  /** Zeros, where a tile that starts from nothing finds its start. */
  static final long ZEROS = Arena.global().allocate(256, 64).address();

  /** The calling thread and no other. */
  static final Workers ALONE = Workers.of(1);

  private static final int ITEMS_PER_TASK = 32;

  private MatMul() {}

  /**
   * Bytes of scratch that {@link #run} needs for a product of these sizes.
   *
   * @param threads of the workers that will run it
   */
  public static long scratchBytes(int m, int n, int k, int threads) {
    return m <= 1 || n <= 1 ? 4L * k : Product.scratchBytes(n, k, Tiles.columns(), threads);
  }

  /**
   * Runs the product.
   *
   * @param a address of A; element (i, p) is {@code a + 4 (i ars + p acs)}
   * @param b address of B; element (p, j) is {@code b + 4 (p brs + j bcs)}
   * @param c address of C; element (i, j) is {@code c + 4 (i ldc + j)}
   * @param accumulate whether C's old values are added to
   * @param scratch address of {@link #scratchBytes} bytes, 64-byte aligned
   */
  public static void run(
      Workers workers,
      long a,
      long ars,
      long acs,
      long b,
      long brs,
      long bcs,
      long c,
      long ldc,
      int m,
      int n,
      int k,
      boolean accumulate,
      long scratch) {
    run(Tiles.active(), workers, a, ars, acs, b, brs, bcs, c, ldc, m, n, k, accumulate, scratch);
  }

  static void run(
      TileKernel kernel,
      Workers workers,
      long a,
      long ars,
      long acs,
      long b,
      long brs,
      long bcs,
      long c,
      long ldc,
      int m,
      int n,
      int k,
      boolean accumulate,
      long scratch) {
    if (m == 0 || n == 0) {
      return;
    }
    if (k == 0) {
      for (int i = 0; i < m && !accumulate; i++) {
        Memory.zero(c + 4 * i * ldc, 4L * n);
      }
    } else if (n == 1) {
      long x = dense(b, brs, k, scratch);
      new VectorProduct(kernel, a, 4 * ars, 4 * acs, x, c, 4 * ldc, m, k, accumulate).run(workers);
    } else if (m == 1) {
      long x = dense(a, acs, k, scratch);
      new VectorProduct(kernel, b, 4 * bcs, 4 * brs, x, c, 4, n, k, accumulate).run(workers);
    } else {
      new Product(
              kernel,
              a,
              4 * ars,
              4 * acs,
              b,
              4 * brs,
              4 * bcs,
              c,
              4 * ldc,
              m,
              n,
              k,
              accumulate,
              scratch)
          .run(workers);
    }
  }

  /** The {@code count} numbers at {@code x}, gathered into {@code scratch} unless side by side. */
  private static long dense(long x, long stride, int count, long scratch) {
    if (stride == 1) {
      return x;
    }
    for (int p = 0; p < count; p++) {
      Memory.setFloat(scratch + 4L * p, Memory.getFloat(x + 4 * p * stride));
    }
    return scratch;
  }

  /** Bytes of scratch that {@link #batched} needs for products of these sizes. */
  public static long batchedScratchBytes(int m, int n, int k, int threads) {
    return threads * ((scratchBytes(m, n, k, 1) + 63) & -64);
  }

  /**
   * Runs {@code count} products of one shape, each as {@link #run} would; the matrices of product i
   * lie {@code i} times their batch stride, counted in elements, from those of the first. Made for
   * many small products: each is one thread's work.
   *
   * @param scratch address of {@link #batchedScratchBytes} bytes, 64-byte aligned
   */
  public static void batched(
      Workers workers,
      int count,
      long a,
      long aBatch,
      long ars,
      long acs,
      long b,
      long bBatch,
      long brs,
      long bcs,
      long c,
      long cBatch,
      long ldc,
      int m,
      int n,
      int k,
      boolean accumulate,
      long scratch) {
    long own = (scratchBytes(m, n, k, 1) + 63) & -64;
    int tasks = (count + ITEMS_PER_TASK - 1) / ITEMS_PER_TASK;
    workers.run(
        tasks,
        (index, worker) -> {
          int end = Math.min(count, (index + 1) * ITEMS_PER_TASK);
          for (int i = index * ITEMS_PER_TASK; i < end; i++) {
            run(
                ALONE,
                a + 4 * i * aBatch,
                ars,
                acs,
                b + 4 * i * bBatch,
                brs,
                bcs,
                c + 4 * i * cBatch,
                ldc,
                m,
                n,
                k,
                accumulate,
                scratch + worker * own);
          }
        });
  }
}
