package dev.tern.internal.kernel;

import com.sun.management.ThreadMXBean;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;

/**
 * The sum of the dot products of all pairs of the vectors of each row, in linear time (Rendle
 * 2010), and its gradient. Scalar at first, by vectors once these are compiled; both give the same
 * bits.
 */
public final class PairSums {
  private static final int ROUNDS = 4_000;
  private static final int WARM_ROWS = 3;

  /** Vectors, none among them, and elements beside whole sets of lanes. */
  private static final int[][] SIZES = {{4, 0}, {5, 1}, {1, 1}, {0, 0}};

  private static volatile PairKernel active =
      VectorSupport.available() && Warmup.EAGER ? new VectorPairs() : new ScalarPairs();

  static {
    if (VectorSupport.available() && !Warmup.EAGER) {
      Warmup.enqueue(PairSums::warm);
    }
  }

  private PairSums() {}

  /** Bytes of scratch memory that one call of {@link #forward} needs. */
  public static long scratchBytes() {
    return Lanes.BYTES;
  }

  /** Rows {@code from} to {@code to} of {@code [b, n, d]} into {@code [b]}. */
  public static void forward(long x, long out, long scratch, int from, int to, int n, int d) {
    active.forward(x + 4L * from * n * d, out + 4L * from, scratch, to - from, n, d);
  }

  /** Gradient of {@link #forward} with respect to {@code x}; {@code gradient} is {@code [b]}. */
  public static void backward(long x, long gradient, long out, int from, int to, int n, int d) {
    long skip = 4L * from * n * d;
    active.backward(x + skip, gradient + 4L * from, out + skip, to - from, n, d);
  }

  /** Drives the vector kernel until it allocates nothing, which means it is compiled. */
  private static void warm(ThreadMXBean bean) {
    PairKernel kernel = new VectorPairs();
    int d = 2 * Lanes.COUNT;
    int n = 5;
    try (Arena arena = Arena.ofConfined()) {
      long bytes = 4L * WARM_ROWS * n * (d + 1);
      long x = arena.allocate(bytes, 64).address();
      long gradient = arena.allocate(bytes, 64).address();
      long result = arena.allocate(4L * WARM_ROWS, 64).address();
      long scratch = arena.allocate(scratchBytes(), 64).address();
      Memory.zero(x, bytes);
      int quiet = 0;
      for (int round = 0; round < ROUNDS && quiet < 3; round++) {
        long before = bean.getCurrentThreadAllocatedBytes();
        for (int[] size : SIZES) {
          kernel.forward(x, result, scratch, WARM_ROWS, size[0], d + size[1]);
          kernel.backward(x, result, gradient, WARM_ROWS, size[0], d + size[1]);
        }
        quiet = bean.getCurrentThreadAllocatedBytes() - before < 64 ? quiet + 1 : 0;
      }
      if (quiet >= 3) {
        active = kernel;
      }
    }
  }
}
