package dev.tern.internal.table.index;

import dev.tern.base.SplitMix64;

/**
 * A set of ids that come and go. Open addressing, at most half full, in the memory of the JVM: 18
 * bytes or more for each id that it was made for.
 */
public final class IdSet {
  private final int most;
  private final long[] ids;
  private final boolean[] taken;
  private int size;

  /** A set of at most {@code most} ids, from 1 to 2^29. */
  public IdSet(int most) {
    if (most < 1 || most > 1 << 29) {
      throw new IllegalArgumentException(
          "ids: got a set of %,d, expected room for 1 to %,d".formatted(most, 1 << 29));
    }
    this.most = most;
    int places = Integer.highestOneBit(2 * most - 1) << 1;
    ids = new long[places];
    taken = new boolean[places];
  }

  public int size() {
    return size;
  }

  public boolean contains(long id) {
    return taken[place(id)];
  }

  /**
   * Adds an id; returns whether it is new.
   *
   * @throws IllegalStateException if there is no room for it
   */
  public boolean add(long id) {
    int place = place(id);
    if (taken[place]) {
      return false;
    }
    if (size == most) {
      throw new IllegalStateException(
          "ids: got one more than %,d, expected at most that; remove one first".formatted(most));
    }
    ids[place] = id;
    taken[place] = true;
    size++;
    return true;
  }

  /** Removes an id; returns whether it was there. */
  public boolean remove(long id) {
    int free = place(id);
    if (!taken[free]) {
      return false;
    }
    size--;
    int mask = ids.length - 1;
    // Ids behind the free place that were pushed past it move up, so that a search finds them.
    for (int at = (free + 1) & mask; taken[at]; at = (at + 1) & mask) {
      int wanted = (int) SplitMix64.mix(ids[at]) & mask;
      if (((at - wanted) & mask) >= ((at - free) & mask)) {
        ids[free] = ids[at];
        free = at;
      }
    }
    taken[free] = false;
    return true;
  }

  /** Where {@code id} stands, or the free place for it. */
  private int place(long id) {
    int mask = ids.length - 1;
    int place = (int) SplitMix64.mix(id) & mask;
    while (taken[place] && ids[place] != id) {
      place = (place + 1) & mask;
    }
    return place;
  }
}
