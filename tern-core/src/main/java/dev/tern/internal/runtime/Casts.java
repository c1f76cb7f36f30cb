package dev.tern.internal.runtime;

import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.memory.Memory;
import dev.tern.tensor.DType;

/** Conversions between element types. Integers are read as doubles, exact below 2^53. */
final class Casts {
  private Casts() {}

  static void run(long in, DType from, long out, DType to, int count) {
    for (int i = 0; i < count; i++) {
      store(out + (long) i * to.bytes(), to, load(in + (long) i * from.bytes(), from));
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
