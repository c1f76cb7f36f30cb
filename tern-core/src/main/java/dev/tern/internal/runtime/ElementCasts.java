package dev.tern.internal.runtime;

import dev.tern.base.DType;
import dev.tern.internal.kernel.Halves;
import dev.tern.internal.kernel.ops.HalfCasts;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.plan.Step;

/** Conversions between element types. Integers are read as doubles, exact below 2^53. */
public final class ElementCasts {
  private ElementCasts() {}

  /**
   * Converts elements from address {@code in} to {@code out}; a conversion to the same type keeps
   * all bits.
   *
   * @param axis the first whose index is not fixed yet; at first 0
   */
  static void run(Step.Cast cast, int axis, long in, long out) {
    int rank = cast.sizes().length;
    if (axis == rank) {
      element(cast.from(), cast.to(), in, out);
      return;
    }
    if (axis == rank - 1 && cast.in().strides()[axis] == 1 && cast.out().strides()[axis] == 1) {
      range(cast, in, out, cast.sizes()[axis]);
      return;
    }
    long inStep = (long) cast.in().strides()[axis] * cast.from().bytes();
    long outStep = (long) cast.out().strides()[axis] * cast.to().bytes();
    for (int i = 0; i < cast.sizes()[axis]; i++) {
      run(cast, axis + 1, in + i * inStep, out + i * outStep);
    }
  }

  /** Whether both sides lie without gaps, in order: {@link #range} then converts any part. */
  static boolean isDense(Step.Cast cast) {
    return cast.in().isDense(cast.sizes()) && cast.out().isDense(cast.sizes());
  }

  /** Converts {@code count} elements that lie one after the other. */
  static void range(Step.Cast cast, long in, long out, int count) {
    DType from = cast.from();
    DType to = cast.to();
    if (from == to) {
      Memory.copy(in, out, (long) count * from.bytes());
    } else if (HalfCasts.serves(from, to)) {
      HalfCasts.run(from, to, in, out, count);
    } else {
      for (int i = 0; i < count; i++) {
        element(from, to, in + (long) i * from.bytes(), out + (long) i * to.bytes());
      }
    }
  }

  private static void element(DType from, DType to, long in, long out) {
    if (from != to) {
      store(out, to, load(in, from));
      return;
    }
    switch (from.bytes()) {
      case 2 -> Memory.setShort(out, Memory.getShort(in));
      case 4 -> Memory.setInt(out, Memory.getInt(in));
      default -> Memory.setLong(out, Memory.getLong(in));
    }
  }

  public static double load(long address, DType type) {
    return switch (type) {
      case F32, BOOL -> Memory.getFloat(address);
      case F16, BF16 -> Halves.widen(type, Memory.getShort(address));
      case I32 -> Memory.getInt(address);
      case I64 -> Memory.getLong(address);
    };
  }

  static void store(long address, DType type, double value) {
    switch (type) {
      case F32 -> Memory.setFloat(address, (float) value);
      case BOOL -> Memory.setFloat(address, value != 0 ? 1 : 0);
      case F16, BF16 -> Memory.setShort(address, Halves.nearest(type, (float) value));
      case I32 -> Memory.setInt(address, (int) value);
      case I64 -> Memory.setLong(address, (long) value);
    }
  }
}
