package dev.tern.internal.kernel;

import dev.tern.base.DType;
import dev.tern.internal.ir.Pointwise;

/**
 * Converts the two-byte floats {@link DType#F16} and {@link DType#BF16} to binary32 and back.
 * Widening is exact and keeps all bits of a NaN; narrowing keeps the sign of a NaN. {@link
 * HalfVectors} gives the same bits by vectors.
 */
public final class Halves {
  private Halves() {}

  /** The value of {@code half}. */
  public static float widen(DType type, short half) {
    return switch (type) {
      case F16 -> fromF16(half);
      case BF16 -> Float.intBitsToFloat(half << 16);
      case F32, I32, I64, BOOL -> throw noHalf(type);
    };
  }

  /** The nearest value of {@code type}, ties to even; infinite beyond the largest finite one. */
  public static short nearest(DType type, float x) {
    return switch (type) {
      case F16 -> toF16(x);
      case BF16 -> Pointwise.toBf16(x);
      case F32, I32, I64, BOOL -> throw noHalf(type);
    };
  }

  /** Like {@link #nearest}, but a finite {@code x} becomes at most the largest finite value. */
  public static short nearestFinite(DType type, float x) {
    short half = nearest(type, x);
    int infinity = type == DType.F16 ? 0x7C00 : 0x7F80;
    return (half & 0x7FFF) == infinity && Float.isFinite(x) ? (short) (half - 1) : half;
  }

  /**
   * Rounds at random to one of the two values of {@link DType#BF16} beside {@code x}, such that the
   * mean is {@code x}. A value of that type stays as it is. Beyond the largest finite value the
   * result is that value. For example, 1 + 2<sup>-9</sup> lies a quarter of the way from 1 to the
   * next value, so it becomes 1 with probability 3/4.
   *
   * @param noise uniform in 0 to 65535
   */
  public static short stochasticBf16(float x, int noise) {
    int bits = Float.floatToRawIntBits(x);
    if (Float.isNaN(x)) {
      return (short) (bits >>> 16 | 0x40);
    }
    boolean largest = (bits & 0x7FFFFFFF) >= 0x7F7F0000;
    return (short) (bits + (largest ? 0 : noise) >>> 16);
  }

  private static float fromF16(short half) {
    int size = (half & 0x7FFF) << 13;
    int bits;
    if (size < 1 << 23) {
      // Subnormal: a fraction of 2^-14 behind a leading 1, which is then subtracted.
      bits = Float.floatToRawIntBits(Float.intBitsToFloat(size + (113 << 23)) - 0x1p-14f);
    } else {
      bits = size + (size < 31 << 23 ? 112 << 23 : 224 << 23);
    }
    return Float.intBitsToFloat(bits | (half & 0x8000) << 16);
  }

  private static short toF16(float x) {
    if (Float.isNaN(x)) {
      return (short) (Float.floatToRawIntBits(x) >>> 16 & 0x8000 | 0x7E00);
    }
    return Float.floatToFloat16(x);
  }

  private static IllegalArgumentException noHalf(DType type) {
    return new IllegalArgumentException("half-width float: got " + type + ", expected F16 or BF16");
  }
}
