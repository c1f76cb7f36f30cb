package dev.tern.internal.checkpoint;

import dev.tern.embedding.config.RowSource;
import dev.tern.internal.memory.Memory;

/** Some of the rows of a source, and rows that are a little otherwise. */
final class SomeRows {
  private SomeRows() {}

  /** The first {@code most} rows, or a block more. */
  static RowSource first(RowSource rows, long most) {
    long[] left = {most};
    return (ids, values) -> {
      int count = left[0] <= 0 ? 0 : rows.next(ids, values);
      left[0] -= count;
      return count;
    };
  }

  /** Every second row. */
  static RowSource half(RowSource rows, RowShape shape) {
    return (ids, values) -> {
      int count = rows.next(ids, values);
      int kept = 0;
      for (int i = 0; i < count; i += 2) {
        ids[kept] = ids[i];
        long to = values.address() + kept * shape.packedBytes();
        Memory.copy(values.address() + i * shape.packedBytes(), to, shape.packedBytes());
        kept++;
      }
      return kept;
    };
  }

  /** All rows, every second one with another first weight. */
  static RowSource changed(RowSource rows, RowShape shape) {
    return (ids, values) -> {
      int count = rows.next(ids, values);
      for (int i = 0; i < count; i += 2) {
        long at = values.address() + i * shape.packedBytes();
        Memory.setFloat(at, Memory.getFloat(at) + 1);
      }
      return count;
    };
  }
}
