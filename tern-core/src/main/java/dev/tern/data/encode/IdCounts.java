package dev.tern.data.encode;

import dev.tern.base.DataException;
import dev.tern.base.SplitMix64;
import java.util.Arrays;

/**
 * Counts how often ids occur: an open-addressing table in two primitive arrays. A place is free if
 * its count is 0, so every id is legal. A count stops at 2^32 - 1.
 */
final class IdCounts {
  private static final long COUNT_MASK = 0xFFFF_FFFFL;
  private static final int MAX_CAPACITY = 1 << 30;

  private final String slot;
  private long[] ids = new long[1024];
  private int[] counts = new int[1024];
  private int size;

  /**
   * @param slot name of the slot, for errors
   */
  IdCounts(String slot) {
    this.slot = slot;
  }

  /** Counts an occurrence of {@code id}. */
  void saw(long id) {
    int place = place(id);
    if (counts[place] == 0) {
      ids[place] = id;
      size++;
    }
    if (counts[place] != -1) {
      counts[place]++;
    }
    if (size > counts.length / 4 * 3) {
      grow();
    }
  }

  /**
   * The ids that occurred {@code minCount} times or more, at most {@code maxSize} of them, by
   * descending count. Ids of equal counts come in the order of unsigned numbers.
   */
  long[] mostFrequent(long minCount, int maxSize) {
    long[] kept = new long[size];
    int n = 0;
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] != 0 && (counts[i] & COUNT_MASK) >= minCount) {
        kept[n++] = ids[i] ^ Long.MIN_VALUE;
      }
    }
    Arrays.sort(kept, 0, n);
    // The low 31 bits are the rank by id: sorting this one array sorts by count, then by id.
    long[] order = new long[n];
    for (int i = 0; i < n; i++) {
      long count = counts[place(kept[i] ^ Long.MIN_VALUE)] & COUNT_MASK;
      order[i] = COUNT_MASK - count << 31 | i;
    }
    Arrays.sort(order);
    long[] result = new long[Math.min(n, maxSize)];
    for (int i = 0; i < result.length; i++) {
      result[i] = kept[(int) (order[i] & Integer.MAX_VALUE)] ^ Long.MIN_VALUE;
    }
    return result;
  }

  /** The share of all occurrences that are not of the ids {@code kept}; 0 where there are none. */
  double shareBeside(long[] kept) {
    double all = 0;
    for (int count : counts) {
      all += count & COUNT_MASK;
    }
    double of = 0;
    for (long id : kept) {
      of += counts[place(id)] & COUNT_MASK;
    }
    return all == 0 ? 0 : 1 - of / all;
  }

  private int place(long id) {
    int mask = ids.length - 1;
    int place = (int) SplitMix64.mix(id) & mask;
    while (counts[place] != 0 && ids[place] != id) {
      place = place + 1 & mask;
    }
    return place;
  }

  private void grow() {
    long[] oldIds = ids;
    int[] oldCounts = counts;
    if (oldIds.length == MAX_CAPACITY) {
      throw new DataException(
          "vocabulary of %s: got more than %d different values, expected fewer; encode it by hash"
              .formatted(slot, size - 1));
    }
    ids = new long[2 * oldIds.length];
    counts = new int[2 * oldIds.length];
    for (int i = 0; i < oldIds.length; i++) {
      if (oldCounts[i] != 0) {
        int place = place(oldIds[i]);
        ids[place] = oldIds[i];
        counts[place] = oldCounts[i];
      }
    }
  }
}
