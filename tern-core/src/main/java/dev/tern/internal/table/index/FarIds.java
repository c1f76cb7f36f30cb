package dev.tern.internal.table.index;

import dev.tern.internal.memory.Memory;

/**
 * Ids of an {@link IdBatch} that the first slot with their tag does not hold: about one of 17. They
 * are in another slot of their bucket, in the next bucket, in the overflow, or nowhere. Each of the
 * last three costs a cache miss, so they are searched together, the ids of many groups at once:
 * first all that a step reads is loaded, then it is searched.
 */
final class FarIds {
  /** After a group with so many, they are searched. */
  private static final int MANY = IdBatch.GROUP;

  // For each such id: its index in the batch; address of its bucket plus the bits of a row number.
  final int[] indexes = new int[MANY + IdBatch.GROUP];
  final long[] lines = new long[MANY + IdBatch.GROUP];

  static boolean areMany(int count) {
    return count > MANY;
  }

  /** Finds the first {@code count} of them; writes the row number of each, or -1. */
  void find(IdIndex index, IdBatch batch, int count) {
    int sum = 0;
    for (int k = 0; k < count; k++) {
      sum += Memory.getInt((lines[k] & -IdSegment.LINE) + IdSegment.LINE);
    }
    int left = findInBuckets(batch, count);
    for (int k = 0; k < left; k++) {
      long hash = batch.hashes[indexes[k]];
      sum += index.segment(hash).overflow.load(hash);
    }
    batch.touched = sum;
    for (int k = 0; k < left; k++) {
      int i = indexes[k];
      long hash = batch.hashes[i];
      batch.rows[i] = index.segment(hash).overflow.find(hash, batch.ids[i]);
    }
  }

  /** Searches each in its bucket and the next; moves those that may be in the overflow forward. */
  private int findInBuckets(IdBatch batch, int count) {
    int left = 0;
    for (int k = 0; k < count; k++) {
      int i = indexes[k];
      long bits = lines[k];
      long line = bits & -IdSegment.LINE;
      long meta = Memory.getLong(line);
      int row = IdSegment.rowIn(line, bits, batch.hashes[i]);
      if (row < 0 && IdSegment.passesToNext(meta)) {
        row = IdSegment.rowIn(line + IdSegment.LINE, bits, batch.hashes[i]);
      }
      batch.rows[i] = row;
      indexes[left] = i;
      left += row < 0 && IdSegment.passesToOverflow(meta) ? 1 : 0;
    }
    return left;
  }
}
