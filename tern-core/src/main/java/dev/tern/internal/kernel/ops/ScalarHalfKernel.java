package dev.tern.internal.kernel.ops;

import dev.tern.base.DType;
import dev.tern.internal.kernel.Halves;
import dev.tern.internal.memory.Memory;

/** {@link HalfKernel} one element at a time. */
final class ScalarHalfKernel implements HalfKernel {
  @Override
  public void widen(DType type, long in, long out, int count) {
    for (int i = 0; i < count; i++) {
      Memory.setFloat(out + 4L * i, Halves.widen(type, Memory.getShort(in + 2L * i)));
    }
  }

  @Override
  public void narrow(DType type, long in, long out, int count) {
    for (int i = 0; i < count; i++) {
      Memory.setShort(out + 2L * i, Halves.nearest(type, Memory.getFloat(in + 4L * i)));
    }
  }
}
