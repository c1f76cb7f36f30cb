package dev.tern.internal.checkpoint;

import dev.tern.base.DataException;
import java.nio.file.Path;

/** Walks over an array of ids that ascend, a block at a time. */
final class IdCursor {
  private final Path path;
  private final LongColumn column;
  private final long[] block;
  private long start;
  private int size;
  private int at;

  IdCursor(Path path, LongColumn column, int block) {
    this.path = path;
    this.column = column;
    this.block = new long[block];
    fill(0);
  }

  private void fill(long from) {
    start = from;
    size = (int) Math.min(block.length, column.size() - from);
    at = 0;
    if (size > 0) {
      column.read(from, block, size);
    }
  }

  boolean ended() {
    return at == size;
  }

  /** The id at hand. */
  long id() {
    return block[at];
  }

  /** Where in the array the ids that are loaded begin, how many they are, which is at hand. */
  long blockStart() {
    return start;
  }

  int blockSize() {
    return size;
  }

  int inBlock() {
    return at;
  }

  void advance() {
    long before = block[at++];
    if (at == size && start + size < column.size()) {
      fill(start + size);
    }
    if (at < size && block[at] <= before) {
      throw outOfOrder(path, block[at], before);
    }
  }

  /** What is wrong where ids do not ascend. */
  static DataException outOfOrder(Path path, long id, long before) {
    return new DataException(
        path
            + ": got id "
            + id
            + " after "
            + before
            + ", expected ascending ids; the file is damaged, use another checkpoint");
  }
}
