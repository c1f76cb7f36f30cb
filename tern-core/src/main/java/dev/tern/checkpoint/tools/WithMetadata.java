package dev.tern.checkpoint.tools;

import dev.tern.embedding.config.RowSource;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.memory.Memory;

/**
 * Rows of a source that keep nothing about themselves, as rows that do.
 *
 * @param rows the source
 * @param shape of the rows given
 * @param metadata what all of them keep
 */
record WithMetadata(RowSource rows, RowShape shape, int[] metadata) implements RowSource {
  @Override
  public int next(long[] ids, long values) {
    int count = rows.next(ids, values);
    long without = shape.packedBytes() - 4L * shape.metadata();
    // From the last on: rows move apart within the block.
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
