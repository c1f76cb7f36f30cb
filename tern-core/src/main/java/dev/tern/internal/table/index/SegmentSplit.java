package dev.tern.internal.table.index;

import dev.tern.internal.memory.Memory;

/**
 * Splits a segment of an {@link IdIndex} in two, by one more bit of the hashes. If the new segments
 * have as many buckets as the old one, the ids of a bucket go to the same bucket of either. So one
 * pass over the buckets writes each new bucket once without reading it. Ids in the overflow or in
 * the bucket after their own are inserted one by one. If a new segment has more buckets, all ids
 * are inserted one by one.
 */
final class SegmentSplit {
  private final IdSegment old;
  private final IdSegment low;
  private final IdSegment high;

  private SegmentSplit(IdSegment old, IdSegment low, IdSegment high) {
    this.old = old;
    this.low = low;
    this.high = high;
  }

  /** Copies all ids of {@code old}, which stays as it is, also if memory runs out. */
  static void move(IdSegment old, IdSegment low, IdSegment high) {
    SegmentSplit split = new SegmentSplit(old, low, high);
    if (low.buckets != old.buckets || high.buckets != old.buckets) {
      low.clear();
      high.clear();
      old.forEachEntry((id, row) -> split.put(Hashing.mix(id), row));
      return;
    }
    boolean passed = false;
    for (long bucket = 0; bucket <= old.buckets; bucket++) {
      long line = old.base + (bucket << IdSegment.LINE_SHIFT);
      int strangers = passed ? old.strangers(line) : 0;
      split.moveOwn(line, strangers);
      if (strangers != 0) {
        split.moveStrangers(line, strangers);
      }
      passed = IdSegment.passesToNext(Memory.getLong(line));
    }
    old.overflow.forEachEntry((id, row) -> split.put(Hashing.mix(id), row));
  }

  /**
   * Copies the ids of a bucket, except the {@link IdSegment#strangers}, to the two new ones. It has
   * no branch on which of the two, because the processor cannot predict it.
   */
  private void moveOwn(long line, int strangers) {
    long meta = Memory.getLong(line);
    int count = IdSegment.count(meta);
    int bit = old.rowBits();
    long first = low.base + (line - old.base);
    long between = high.base - low.base;
    long lowMeta = 0;
    long highMeta = 0;
    for (int slot = 0; slot < count; slot += Byte.SIZE) {
      if ((strangers >>> (slot >>> 3) & 1) != 0) {
        continue;
      }
      long entry = Memory.getLong(line + Long.BYTES + slot);
      long up = -(entry >>> bit & 1);
      int free = IdSegment.count(lowMeta ^ (lowMeta ^ highMeta) & up);
      Memory.setLong(first + (between & up) + Long.BYTES + free, entry & ~(1L << bit));
      long added = ((meta >>> slot & 0xFF) << free) + IdSegment.ONE_MORE;
      lowMeta += added & ~up;
      highMeta += added & up;
    }
    Memory.setLong(first, lowMeta);
    Memory.setLong(first + between, highMeta);
    low.placed += IdSegment.count(lowMeta) / Byte.SIZE;
    high.placed += IdSegment.count(highMeta) / Byte.SIZE;
  }

  /** Inserts the ids that belong in the bucket before, which may have room now. */
  private void moveStrangers(long line, int strangers) {
    for (int left = strangers; left != 0; left &= left - 1) {
      int slot = Byte.SIZE * Integer.numberOfTrailingZeros(left);
      long hash = old.hash(line, slot);
      put(hash, old.row(line, slot));
    }
  }

  private void put(long hash, int row) {
    IdSegment target = (hash >>> old.rowBits() & 1) == 0 ? low : high;
    target.reserve(1);
    target.put(hash, row);
  }
}
