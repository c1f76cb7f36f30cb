package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.Optional;

/**
 * The sum of the dot products of all pairs of the vectors of each row, in linear time (Rendle
 * 2010), and its gradient. Scalar at first, by vectors once these are compiled; both give the same
 * bits.
 */
public final class PairSums {
  private static final int WARM_ROWS = 3;

  /** Vectors, none among them, and elements beside whole sets of lanes. */
  private static final int[][] SIZES = {{8, 0}, {7, 1}, {6, 0}, {1, 1}, {0, 0}};

  private static volatile PairKernel active =
      VectorSupport.available() && Warmup.EAGER ? new VectorPairs() : new ScalarPairs();

  static {
    if (VectorSupport.available() && !Warmup.EAGER) {
      Warmup.enqueue(() -> Optional.of(new PairWarmup()));
    }
  }

  private PairSums() {}

  /** Bytes of scratch memory that one call of {@link #forward} needs. */
  public static long scratchBytes() {
    return (long) VectorPairs.BLOCK * Lanes.BYTES;
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

  /** The vector kernel in turn with kernels that do nothing. */
  private static final class PairWarmup implements Warmup.Candidate {
    private static final int D = 2 * Lanes.COUNT;
    private static final long BYTES = 4L * WARM_ROWS * 8 * (D + 1);

    private final PairKernel[] turns = {
      new VectorPairs(), new Idle(), new OtherIdle(), new ThirdIdle()
    };
    private final Arena arena = Arena.ofConfined();
    private final long x = Memory.allocate(arena, BYTES, 64, "warm-up").address();
    private final long gradient = Memory.allocate(arena, BYTES, 64, "warm-up").address();
    private final long result = Memory.allocate(arena, 4L * WARM_ROWS, 64, "warm-up").address();
    private final long scratch = Memory.allocate(arena, scratchBytes(), 64, "warm-up").address();

    @Override
    public void round(boolean large) {
      for (int[] size : SIZES) {
        for (PairKernel turn : turns) {
          turn.forward(x, result, scratch, WARM_ROWS, size[0], D + size[1]);
          turn.backward(x, result, gradient, WARM_ROWS, size[0], D + size[1]);
        }
      }
    }

    @Override
    public int busyRounds() {
      return Warmup.MANY_ROUNDS;
    }

    @Override
    public void adopt() {
      active = turns[0];
      arena.close();
    }

    @Override
    public void renew() {
      turns[0] = (PairKernel) FreshCode.copyOf(VectorPairs.class);
    }

    @Override
    public void giveUp() {
      arena.close();
    }
  }

  private static class Idle implements PairKernel {
    @Override
    public void forward(long x, long out, long scratch, int rows, int n, int d) {}

    @Override
    public void backward(long x, long gradient, long out, int rows, int n, int d) {}
  }

  private static final class OtherIdle extends Idle {}

  private static final class ThirdIdle extends Idle {}
}
