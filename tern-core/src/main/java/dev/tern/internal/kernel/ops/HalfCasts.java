package dev.tern.internal.kernel.ops;

import dev.tern.base.DType;
import dev.tern.internal.kernel.warmup.VectorForm;
import dev.tern.internal.kernel.warmup.Warmup;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;

/** Converts dense elements from F32 to F16 or BF16, and back. */
public final class HalfCasts {
  /** Fewer than none, in whole vectors: see {@link Warmup.Round#ENTRY}. */
  private static final int ENTRY = -64;

  private static final int SMALL = 23;
  private static final int LARGE = 1 << 12;

  private static final VectorForm<HalfKernel> KERNEL =
      VectorForm.of(
          new VectorForm.Code<>(HalfKernel.class, VectorHalfKernel.class, HalfCasts::drive),
          new ScalarHalfKernel(),
          () -> {});

  private HalfCasts() {}

  /** Whether one type is F32, and the other F16 or BF16. */
  public static boolean serves(DType from, DType to) {
    return isHalf(from) && to == DType.F32 || from == DType.F32 && isHalf(to);
  }

  private static boolean isHalf(DType type) {
    return type == DType.F16 || type == DType.BF16;
  }

  /** Converts {@code count} elements at {@code in} to {@code out}; see {@link #serves}. */
  public static void run(DType from, DType to, long in, long out, int count) {
    if (to == DType.F32) {
      KERNEL.active().widen(from, in, out, count);
    } else {
      KERNEL.active().narrow(to, in, out, count);
    }
  }

  private static VectorForm.Driver<HalfKernel> drive(Arena arena) {
    long floats = Memory.allocate(arena, 4L * LARGE, 64, "warm-up").address();
    long halves = Memory.allocate(arena, 2L * LARGE, 64, "warm-up").address();
    return new VectorForm.Driver<>(
        kernel -> casts(kernel, floats, halves, ENTRY),
        kernel -> casts(kernel, floats, halves, SMALL),
        kernel -> casts(kernel, floats, halves, LARGE));
  }

  private static void casts(HalfKernel kernel, long floats, long halves, int count) {
    kernel.narrow(DType.F16, floats, halves, count);
    kernel.widen(DType.F16, halves, floats, count);
    kernel.narrow(DType.BF16, floats, halves, count);
    kernel.widen(DType.BF16, halves, floats, count);
  }
}
