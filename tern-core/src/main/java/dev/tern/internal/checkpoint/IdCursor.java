package dev.tern.internal.checkpoint;

import dev.tern.base.DataException;
import java.nio.file.Path;

/** Walks over an array of ascending ids of a file, and reads a block at a time. */
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

  long id() {
    return block[at];
  }

  /** Index in the array of the first id of the loaded block. */
  long blockStart() {
    return start;
  }

  /** Ids in the loaded block. */
  int blockSize() {
    return size;
  }

  /** Index of the current id in the loaded block. */
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

  static DataException outOfOrder(Path path, long id, long before) {
    return new DataException(
        "%s: got id %d after %d, expected ascending ids; the file is damaged, use another checkpoint"
            .formatted(path, id, before));
  }
}
