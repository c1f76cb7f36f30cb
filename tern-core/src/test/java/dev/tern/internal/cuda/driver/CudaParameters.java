package dev.tern.internal.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Parameters of a kernel for tests. */
final class CudaParameters {
  private CudaParameters() {}

  /** Pointers to the values of a kernel's parameters: longs, ints, floats. */
  static MemorySegment of(Arena arena, Object... values) {
    MemorySegment pointers = arena.allocate(ADDRESS, Math.max(1, values.length));
    for (int i = 0; i < values.length; i++) {
      MemorySegment value =
          switch (values[i]) {
            case Long n -> arena.allocateFrom(JAVA_LONG, n);
            case Integer n -> arena.allocateFrom(JAVA_INT, n);
            case Float x -> arena.allocateFrom(JAVA_FLOAT, x);
            default -> throw new IllegalArgumentException(values[i].toString());
          };
      pointers.setAtIndex(ADDRESS, i, value);
    }
    return pointers;
  }
}
