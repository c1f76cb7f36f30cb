package dev.tern.internal.kernel.ops;

import dev.tern.base.DType;
import dev.tern.internal.kernel.HalfVectors;
import dev.tern.internal.memory.Memory;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;

/** {@link HalfKernel} by vectors; elements left over at the end are converted one at a time. */
final class VectorHalfKernel implements HalfKernel {
  private static final int LANES = HalfVectors.LANES;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private final ScalarHalfKernel rest = new ScalarHalfKernel();

  @Override
  public void widen(DType type, long in, long out, int count) {
    int whole = count - count % LANES;
    if (type == DType.F16) {
      widenF16(in, out, whole);
    } else {
      widenBf16(in, out, whole);
    }
    rest.widen(type, in + 2L * whole, out + 4L * whole, count - whole);
  }

  @Override
  public void narrow(DType type, long in, long out, int count) {
    int whole = count - count % LANES;
    if (type == DType.F16) {
      narrowF16(in, out, whole);
    } else {
      narrowBf16(in, out, whole);
    }
    rest.narrow(type, in + 4L * whole, out + 2L * whole, count - whole);
  }

  private static FloatVector load(long address) {
    return FloatVector.fromMemorySegment(HalfVectors.FLOATS, Memory.ALL, address, ORDER);
  }

  private static void widenF16(long in, long out, int whole) {
    if (whole < 0) {
      return;
    }
    for (int i = 0; i < whole; i += LANES) {
      HalfVectors.loadF16(in + 2L * i).intoMemorySegment(Memory.ALL, out + 4L * i, ORDER);
    }
  }

  private static void widenBf16(long in, long out, int whole) {
    if (whole < 0) {
      return;
    }
    for (int i = 0; i < whole; i += LANES) {
      HalfVectors.loadBf16(in + 2L * i).intoMemorySegment(Memory.ALL, out + 4L * i, ORDER);
    }
  }

  private static void narrowF16(long in, long out, int whole) {
    if (whole < 0) {
      return;
    }
    for (int i = 0; i < whole; i += LANES) {
      HalfVectors.storeF16(load(in + 4L * i), out + 2L * i);
    }
  }

  private static void narrowBf16(long in, long out, int whole) {
    if (whole < 0) {
      return;
    }
    for (int i = 0; i < whole; i += LANES) {
      HalfVectors.storeBf16(load(in + 4L * i), out + 2L * i);
    }
  }
}
