package dev.tern.internal.kernel;

import com.sun.management.ThreadMXBean;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;

/**
 * Pairwise dot products of the vectors of each row, and their gradient. Scalar at first, by vectors
 * once these are compiled; both give the same bits.
 */
public final class DotInteraction {
  private static final int ROUNDS = 4_000;
  private static final int WARM_ROWS = 3;
  private static volatile DotKernel active =
      VectorSupport.available() && Warmup.EAGER ? new VectorDot() : new ScalarDot();

  static {
    if (VectorSupport.available() && !Warmup.EAGER) {
      Warmup.enqueue(DotInteraction::warm);
    }
  }

  private DotInteraction() {}

  /** Bytes of scratch memory that one call of {@link #forward} needs. */
  public static long scratchBytes(int n, int d) {
    return 4L * (4 * Lanes.COUNT + (n + Lanes.COUNT - 1L) / Lanes.COUNT * Lanes.COUNT * d);
  }

  /**
   * Rows {@code from} to {@code to} of {@code [b, n, d]} into {@code [b, n (n - 1) / 2]}: the
   * product of vectors i and j, j &lt; i, is at i (i - 1) / 2 + j.
   *
   * @param scratch address of {@link #scratchBytes} bytes
   */
  public static void forward(long x, long out, long scratch, int from, int to, int n, int d) {
    long row = x + 4L * from * n * d;
    active.forward(row, out + 2L * from * n * (n - 1), scratch, to - from, n, d);
  }

  /** Gradient of {@link #forward} with respect to {@code x}. */
  public static void backward(long x, long gradient, long out, int from, int to, int n, int d) {
    long skip = 4L * from * n * d;
    active.backward(x + skip, gradient + 2L * from * n * (n - 1), out + skip, to - from, n, d);
  }

  /** Drives the vector kernel until it allocates nothing, which means it is compiled. */
  private static void warm(ThreadMXBean bean) {
    DotKernel kernel = new VectorDot();
    int n = 3 * Lanes.COUNT + 2;
    int d = 3 * VectorSupport.lanes() + 1;
    try (Arena arena = Arena.ofConfined()) {
      long x = arena.allocate(4L * WARM_ROWS * n * d, 64).address();
      long products = arena.allocate(2L * WARM_ROWS * n * (n - 1), 64).address();
      long gradient = arena.allocate(4L * WARM_ROWS * n * d, 64).address();
      long scratch = arena.allocate(scratchBytes(n, d), 64).address();
      Memory.zero(x, 4L * WARM_ROWS * n * d);
      int quiet = 0;
      for (int round = 0; round < ROUNDS && quiet < 3; round++) {
        long before = bean.getCurrentThreadAllocatedBytes();
        kernel.forward(x, products, scratch, WARM_ROWS, n, d);
        kernel.backward(x, products, gradient, WARM_ROWS, n, d);
        quiet = bean.getCurrentThreadAllocatedBytes() - before < 64 ? quiet + 1 : 0;
      }
      if (quiet >= 3) {
        active = kernel;
      }
    }
  }
}
