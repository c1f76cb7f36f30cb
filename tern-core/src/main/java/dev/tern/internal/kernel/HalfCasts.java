package dev.tern.internal.kernel;

import dev.tern.base.DType;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.Optional;

/**
 * Dense conversion between F32 and F16 or BF16. Scalar at first, by vectors once these are
 * compiled; both give the same bits.
 */
public final class HalfCasts {
  private static volatile HalfKernel active =
      VectorSupport.available() && Warmup.EAGER ? new VectorHalfKernel() : new ScalarHalfKernel();

  static {
    if (VectorSupport.available() && !Warmup.EAGER) {
      Warmup.enqueue(() -> Optional.of(new CastWarmup()));
    }
  }

  private HalfCasts() {}

  /** Whether it converts between the two. */
  public static boolean serves(DType from, DType to) {
    return isHalf(from) && to == DType.F32 || from == DType.F32 && isHalf(to);
  }

  private static boolean isHalf(DType type) {
    return type == DType.F16 || type == DType.BF16;
  }

  /** {@code count} elements at {@code in} to {@code out}; the types are those it serves. */
  public static void run(DType from, DType to, long in, long out, int count) {
    if (to == DType.F32) {
      active.widen(from, in, out, count);
    } else {
      active.narrow(to, in, out, count);
    }
  }

  /** The vector kernel in turn with kernels that do nothing. */
  private static final class CastWarmup implements Warmup.Candidate {
    private static final int SMALL = 23;
    private static final int LARGE = 1 << 12;

    private final HalfKernel[] turns = {
      new VectorHalfKernel(), new Idle(), new OtherIdle(), new ThirdIdle()
    };
    private final Arena arena = Arena.ofConfined();
    private final long floats = Memory.allocate(arena, 4L * LARGE, 64, "warm-up").address();
    private final long halves = Memory.allocate(arena, 2L * LARGE, 64, "warm-up").address();

    @Override
    public void round(boolean large) {
      int count = large ? LARGE : SMALL;
      for (HalfKernel turn : turns) {
        turn.narrow(DType.F16, floats, halves, count);
        turn.widen(DType.F16, halves, floats, count);
        turn.narrow(DType.BF16, floats, halves, count);
        turn.widen(DType.BF16, halves, floats, count);
      }
    }

    @Override
    public void adopt() {
      active = turns[0];
      arena.close();
    }

    @Override
    public void renew() {
      turns[0] = (HalfKernel) FreshCode.copyOf(VectorHalfKernel.class);
    }

    @Override
    public void giveUp() {
      arena.close();
    }
  }

  private static class Idle implements HalfKernel {
    @Override
    public void widen(DType type, long in, long out, int count) {}

    @Override
    public void narrow(DType type, long in, long out, int count) {}
  }

  private static final class OtherIdle extends Idle {}

  private static final class ThirdIdle extends Idle {}
}
