package dev.tern.embedding;

import java.util.Arrays;

/**
 * Walks the ids of an index in ascending order with bounded memory: each pass over the index keeps
 * the {@link #BLOCK} smallest ids above the last one given.
 */
final class SortedIds {
  private static final int BLOCK = 1 << 23;

  private final IdIndex index;
  private final long[] kept;
  private final int block;
  private int count;
  private boolean started;
  private long last;

  /** Ids above this one cannot be among the block's smallest. */
  private long bound;

  SortedIds(IdIndex index) {
    this(index, BLOCK);
  }

  SortedIds(IdIndex index, int block) {
    this.index = index;
    this.block = block;
    kept = new long[(int) Math.min(2L * block, Math.max(1, index.size()))];
  }

  /** The next block of ids, ascending; none at the end. The array is used again. */
  int next() {
    if (started && last == Long.MAX_VALUE) {
      return 0;
    }
    count = 0;
    bound = Long.MAX_VALUE;
    index.forEachId(this::keep);
    Arrays.sort(kept, 0, count);
    count = Math.min(count, block);
    if (count > 0) {
      last = kept[count - 1];
      started = true;
    }
    return count;
  }

  long[] ids() {
    return kept;
  }

  private void keep(long id) {
    if (id > bound || (started && id <= last)) {
      return;
    }
    if (count == kept.length) {
      Arrays.sort(kept);
      count = Math.min(count, block);
      bound = kept[count - 1];
      if (id > bound) {
        return;
      }
    }
    kept[count++] = id;
  }
}
