package dev.tern.embedding;

import dev.tern.internal.memory.Memory;
import java.util.Arrays;

/**
 * Moves the ids of a segment of an {@link IdIndex} to one of twice as many buckets, or to two of as
 * many. Either way the ids of a bucket go to two others, by one more bit of their hashes. So it
 * goes over the buckets in order and writes each of the new ones once, from the first byte to the
 * last, and reads none: what these hold before does not matter. Ids that lie in another bucket than
 * their own wait until all others have their places.
 */
final class SegmentSplit {
  private long[] ids = new long[64];
  private int[] rows = new int[64];
  private int waiting;

  /**
   * Moves all ids of {@code old}; to the first half of their buckets in {@code low} and the second
   * in {@code high} where these are the same.
   */
  void move(IdSegment old, IdSegment low, IdSegment high) {
    long bytes = old.bytes();
    long second = low == high ? low.base + bytes : high.base;
    int bit = low == high ? Integer.numberOfTrailingZeros(old.buckets) : 63 - old.prefixBits;
    waiting = 0;
    for (long at = 0; at < bytes; at += IdSegment.LINE) {
      int counts = moveBucket(old, at, bit, low.base + at, second + at);
      low.size += counts & 7;
      high.size += counts >> 3;
    }
    for (int i = 0; i < waiting; i++) {
      long hash = IdIndex.hash(ids[i]);
      ((hash >>> bit & 1) == 0 ? low : high).put(hash, ids[i], rows[i]);
    }
  }

  /**
   * Moves the ids of a bucket that are its own to two others; which of them cannot be predicted, so
   * there is no branch.
   *
   * @return how many ids went to the first, plus 8 times how many to the second
   */
  private int moveBucket(IdSegment old, long at, int bit, long first, long second) {
    long line = old.base + at;
    long mask = old.mask();
    int count = IdSegment.count(Memory.getInt(line + IdSegment.META));
    int counts = 0;
    long metas = 0;
    for (int slot = 0; slot < count; slot++) {
      long id = Memory.getLong(line + 8L * slot);
      int row = Memory.getInt(line + IdSegment.ROWS + 4L * slot);
      long hash = IdIndex.hash(id);
      if (((hash << IdSegment.LINE_SHIFT) & mask) != at) {
        await(id, row);
        continue;
      }
      int up = (int) (hash >>> bit) & 1;
      int free = counts >> 3 * up & 7;
      counts += 1 << 3 * up;
      long target = first + (second - first) * up;
      Memory.setLong(target + 8L * free, id);
      Memory.setInt(target + IdSegment.ROWS + 4L * free, row);
      metas |= (long) IdSegment.tag(hash) << (Integer.SIZE * up + IdSegment.TAG_BITS * free);
    }
    Memory.setInt(first + IdSegment.META, (int) metas);
    Memory.setInt(second + IdSegment.META, (int) (metas >>> Integer.SIZE));
    return counts;
  }

  private void await(long id, int row) {
    if (waiting == ids.length) {
      ids = Arrays.copyOf(ids, 2 * waiting);
      rows = Arrays.copyOf(rows, 2 * waiting);
    }
    ids[waiting] = id;
    rows[waiting++] = row;
  }
}
