package dev.tern.internal.ir;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Leaves that hold a copy of an array, row-major, in memory of their own. The garbage collector
 * frees it with the node.
 */
public final class Leaves {
  private static final int ALIGNMENT = 64;

  private Leaves() {}

  /** An F32 leaf. */
  public static Node of(Shape shape, float[] values) {
    return copy(shape, DType.F32, MemorySegment.ofArray(values), values.length);
  }

  /** An I64 leaf. */
  public static Node of(Shape shape, long[] values) {
    return copy(shape, DType.I64, MemorySegment.ofArray(values), values.length);
  }

  /** An I32 leaf. */
  public static Node of(Shape shape, int[] values) {
    return copy(shape, DType.I32, MemorySegment.ofArray(values), values.length);
  }

  private static Node copy(Shape shape, DType type, MemorySegment values, int count) {
    if (count != shape.elements()) {
      throw new IllegalArgumentException(
          "tensor: got " + count + " values for " + shape + ", expected " + shape.elements());
    }
    MemorySegment copy =
        Memory.allocate(Arena.ofAuto(), Math.max(1, values.byteSize()), ALIGNMENT, "tensor");
    copy.copyFrom(values);
    return Nodes.leaf(new Buffer(copy.address(), copy.byteSize(), copy), shape, type);
  }
}
