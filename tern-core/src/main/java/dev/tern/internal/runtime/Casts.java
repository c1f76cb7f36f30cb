package dev.tern.internal.runtime;

import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.plan.Step;
import dev.tern.tensor.DType;

/** Conversions between element types. Integers are read as doubles, exact below 2^53. */
final class Casts {
  private Casts() {}

  /** Converts from address {@code in} to {@code out}; one type to itself keeps all bits. */
  static void run(Step.Cast cast, long in, long out) {
    run(cast, 0, in, out);
  }

  private static void run(Step.Cast cast, int axis, long in, long out) {
    if (axis == cast.sizes().length) {
      element(cast, in, out);
      return;
    }
    long inStep = (long) cast.inStrides()[axis] * cast.from().bytes();
    long outStep = (long) cast.outStrides()[axis] * cast.to().bytes();
    for (int i = 0; i < cast.sizes()[axis]; i++) {
      run(cast, axis + 1, in + i * inStep, out + i * outStep);
    }
  }

  private static void element(Step.Cast cast, long in, long out) {
    if (cast.from() != cast.to()) {
      store(out, cast.to(), load(in, cast.from()));
      return;
    }
    switch (cast.from().bytes()) {
      case 2 -> Memory.setShort(out, Memory.getShort(in));
      case 4 -> Memory.setInt(out, Memory.getInt(in));
      default -> Memory.setLong(out, Memory.getLong(in));
    }
  }

  static double load(long address, DType type) {
    return switch (type) {
      case F32, BOOL -> Memory.getFloat(address);
      case F16 -> Float.float16ToFloat(Memory.getShort(address));
      case BF16 -> Float.intBitsToFloat(Memory.getShort(address) << 16);
      case I32 -> Memory.getInt(address);
      case I64 -> Memory.getLong(address);
    };
  }

  static void store(long address, DType type, double value) {
    switch (type) {
      case F32 -> Memory.setFloat(address, (float) value);
      case BOOL -> Memory.setFloat(address, value != 0 ? 1 : 0);
      case F16 -> Memory.setShort(address, Float.floatToFloat16((float) value));
      case BF16 -> Memory.setShort(address, Pointwise.toBf16((float) value));
      case I32 -> Memory.setInt(address, (int) value);
      case I64 -> Memory.setLong(address, (long) value);
    }
  }
}
