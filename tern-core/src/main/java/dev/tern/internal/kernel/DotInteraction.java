package dev.tern.internal.kernel;

import java.lang.foreign.Arena;
import java.util.Optional;

/**
 * Pairwise dot products of the vectors of each row, and their gradient. Scalar at first, by vectors
 * once these are compiled; both give the same bits.
 */
public final class DotInteraction {
  private static final int WARM_ROWS = 3;
  private static volatile DotKernel active =
      VectorSupport.available() && Warmup.EAGER ? new VectorDot() : new ScalarDot();

  static {
    if (VectorSupport.available() && !Warmup.EAGER) {
      Warmup.enqueue(() -> Optional.of(new DotWarmup()));
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

  /** The vector kernel in turn with kernels that do nothing. */
  private static final class DotWarmup implements Warmup.Candidate {
    private static final int N = 3 * Lanes.COUNT + 2;
    private static final int D = 3 * VectorSupport.lanes() + 1;

    private final DotKernel[] turns = {
      new VectorDot(), new Idle(), new OtherIdle(), new ThirdIdle()
    };
    private final Arena arena = Arena.ofConfined();
    private final long x = arena.allocate(4L * WARM_ROWS * N * D, 64).address();
    private final long products = arena.allocate(2L * WARM_ROWS * N * (N - 1), 64).address();
    private final long gradient = arena.allocate(4L * WARM_ROWS * N * D, 64).address();
    private final long scratch = arena.allocate(scratchBytes(N, D), 64).address();

    @Override
    public void round(boolean large) {
      for (DotKernel turn : turns) {
        turn.forward(x, products, scratch, WARM_ROWS, N, D);
        turn.backward(x, products, gradient, WARM_ROWS, N, D);
      }
    }

    @Override
    public void adopt() {
      active = turns[0];
      arena.close();
    }

    @Override
    public void renew() {
      turns[0] = (DotKernel) FreshCode.copyOf(VectorDot.class);
    }

    @Override
    public void giveUp() {
      arena.close();
    }
  }

  private static class Idle implements DotKernel {
    @Override
    public void forward(long x, long out, long scratch, int rows, int n, int d) {}

    @Override
    public void backward(long x, long gradient, long out, int rows, int n, int d) {}
  }

  private static final class OtherIdle extends Idle {}

  private static final class ThirdIdle extends Idle {}
}
