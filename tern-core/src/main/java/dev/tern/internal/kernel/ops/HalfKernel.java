package dev.tern.internal.kernel.ops;

import dev.tern.base.DType;

/** Conversion of dense elements between F32 and a type of two bytes. */
interface HalfKernel {
  /** Converts {@code count} values of {@code type} at {@code in} to F32 at {@code out}. */
  void widen(DType type, long in, long out, int count);

  /**
   * Rounds {@code count} values of F32 at {@code in} to the nearest {@code type} at {@code out}.
   */
  void narrow(DType type, long in, long out, int count);
}
