package dev.tern.embedding;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Walks ids in ascending order with bounded memory: each pass over them keeps the {@link #BLOCK}
 * smallest above the last one given.
 */
final class SortedIds {
  private static final int BLOCK = 1 << 23;

  /** Gives all ids, each once, in any order. */
  private final Consumer<IdIndex.IdSink> ids;

  private final long[] kept;
  private final int block;
  private int count;
  private boolean started;
  private long last;

  /** Ids above this one cannot be among the block's smallest. */
  private long bound;

  SortedIds(Consumer<IdIndex.IdSink> ids, long size) {
    this(ids, size, BLOCK);
  }

  SortedIds(Consumer<IdIndex.IdSink> ids, long size, int block) {
    this.ids = ids;
    this.block = block;
    kept = new long[(int) Math.min(2L * block, Math.max(1, size))];
  }

  /** The next block of ids, ascending; none at the end. The array is used again. */
  int next() {
    if (started && last == Long.MAX_VALUE) {
      return 0;
    }
    count = 0;
    bound = Long.MAX_VALUE;
    ids.accept(this::keep);
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
