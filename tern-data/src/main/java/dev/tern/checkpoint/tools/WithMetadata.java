package dev.tern.checkpoint.tools;

import dev.tern.embedding.config.RowSource;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;

/**
 * Adds metadata to the rows of a source that has none.
 *
 * @param rows the source
 * @param shape shape of the rows with metadata
 * @param metadata metadata of every row
 */
record WithMetadata(RowSource rows, RowShape shape, int[] metadata) implements RowSource {
  @Override
  public int next(long[] ids, MemorySegment into) {
    int count = rows.next(ids, into);
    long values = into.address();
    long without = shape.packedBytes() - 4L * shape.metadata();
    // From the last row to the first, since rows move apart in the same memory.
    for (int i = count - 1; i >= 0 && shape.metadata() > 0; i--) {
      long row = values + i * shape.packedBytes();
      for (long at = without - 4; at >= 0; at -= 4) {
        Memory.setInt(row + at, Memory.getInt(values + i * without + at));
      }
      for (int j = 0; j < shape.metadata(); j++) {
        Memory.setInt(row + without + 4L * j, metadata[j]);
      }
    }
    return count;
  }
}
