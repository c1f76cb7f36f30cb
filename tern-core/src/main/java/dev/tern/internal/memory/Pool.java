package dev.tern.internal.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Memory under one budget, and the ranges of address space that it is put behind. When gaps between
 * blocks would come to hold more than a small share of what was ever taken, memory goes from free
 * addresses to those that are needed: what is held follows what is live, however blocks lie.
 *
 * <p>Not thread-safe. Sizes are bytes.
 */
final class Pool {
  private static final long SMALLEST_STEP = 64 << 10;
  private static final long LARGEST_STEP = 16 << 20;
  private static final long LARGEST_RANGE = 1L << 38;

  /** How much address space there is by memory, since there are gaps between blocks. */
  private static final int SPREAD = 4;

  /** The share of what was ever taken that gaps may hold. */
  private static final int SLACK = 64;

  /** The part of the budget from which on a block is not expected to be asked for again. */
  private static final int EXCEPTIONAL = 4;

  private static final int NONE = -1;

  private final long most;
  private final long step;
  private final long unit;
  private final Backing backing;
  private final BooleanSupplier recall;
  private final List<Range> ranges = new ArrayList<>();
  private final ArenaStatistics.Stat taken = new ArenaStatistics.Stat();
  private final ArenaStatistics.Stat reserved = new ArenaStatistics.Stat();
  private final ArenaStatistics.Stat inactive = new ArenaStatistics.Stat();
  private long handle;
  private long retries;
  private long earlierCalls;

  /**
   * An empty pool.
   *
   * @param budget bounds what is held from the system, rounded up to whole pages
   * @param recall frees blocks that nobody needs; false when there are none
   */
  Pool(long budget, Backing backing, BooleanSupplier recall) {
    this.backing = backing;
    this.recall = recall;
    long share = Long.highestOneBit(Math.max(1, budget / 64));
    step = Math.clamp(share, SMALLEST_STEP, LARGEST_STEP);
    unit = Math.clamp(share, Pages.PAGE, Pages.HUGE_PAGE);
    most = Pages.whole(budget) / unit * unit;
  }

  /** The most bytes that may be held. */
  long most() {
    return most;
  }

  /** What the system is asked for at a time, where less is needed. */
  long step() {
    return step;
  }

  /** The address of a new block of {@code size}, a multiple of 64; 0 where there is no room. */
  long allocate(long size) {
    int index = size > most ? NONE : place(size);
    if (index == NONE) {
      return 0;
    }
    long missing = ranges.get(index).missing(handle);
    if (missing > 0 && recallAround(index)) {
      index = place(size);
      missing = index == NONE ? 0 : ranges.get(index).missing(handle);
    }
    if (index == NONE || !fund(size, missing)) {
      if (index != NONE) {
        ranges.get(index).free(handle);
      }
      count();
      return 0;
    }
    Range range = ranges.get(index);
    if (missing > 0) {
      commit(range, size, missing);
    }
    taken.change(size);
    count();
    return range.address(handle);
  }

  /** The handle of the block allocated last. */
  long handle() {
    return handle;
  }

  /** Frees a block; one of a large part of the budget gives its memory back. */
  void free(long address, long byHandle) {
    int index = indexOf(address);
    Range range = ranges.get(index);
    long size = range.size(byHandle);
    int hole = range.free(byHandle);
    taken.change(-size);
    if (size > most / EXCEPTIONAL) {
      range.release(hole, Long.MAX_VALUE);
      closeIfIdle(index);
    }
    count();
  }

  /** Gives memory of free places back until that is {@code wanted} bytes, or there is none left. */
  void release(long wanted) {
    long target = wanted > reserved.current() ? 0 : reserved.current() - wanted;
    for (int i = ranges.size() - 1; i >= 0 && reserved.current() > target; i--) {
      ranges.get(i).release(reserved.current() - target);
      closeIfIdle(i);
      count();
    }
  }

  /** Gives all back. */
  void close() {
    while (!ranges.isEmpty()) {
      drop(ranges.size() - 1);
    }
    taken.change(-taken.current());
    count();
  }

  /** Bytes of blocks. */
  ArenaStatistics.Stat taken() {
    return taken;
  }

  /** Bytes held from the system. */
  ArenaStatistics.Stat reserved() {
    return reserved;
  }

  /** Those of them in no block. */
  ArenaStatistics.Stat inactive() {
    return inactive;
  }

  /** How often the budget was full and memory was collected for a request. */
  long retries() {
    return retries;
  }

  /** How often the system was called. */
  long systemCalls() {
    long calls = earlierCalls;
    for (int i = 0; i < ranges.size(); i++) {
      calls += ranges.get(i).systemCalls();
    }
    return calls;
  }

  /** Finds a place, in a new range where no other has one; sets the handle. */
  private int place(long size) {
    int index = placeInRanges(size);
    if (index == NONE && backing == Backing.ARENAS && recall.getAsBoolean()) {
      index = placeInRanges(size);
    }
    return index == NONE && open(size) ? placeInRanges(size) : index;
  }

  private int placeInRanges(long size) {
    for (int i = 0; i < ranges.size(); i++) {
      handle = ranges.get(i).allocate(size);
      if (handle != NONE) {
        return i;
      }
    }
    return NONE;
  }

  /** Frees the block just placed when others could be freed first, so that it may lie better. */
  private boolean recallAround(int index) {
    long placed = handle;
    Range range = ranges.get(index);
    if (!recall.getAsBoolean()) {
      return false;
    }
    range.free(placed);
    return true;
  }

  /** Sees to it that {@code missing} bytes more may be held. */
  private boolean fund(long size, long missing) {
    long excess = reserved.current() + missing - fairShare(size);
    if (missing > 0 && excess > 0) {
      release(excess);
    }
    if (reserved.current() + missing > most) {
      retries++;
      release(reserved.current() + missing - most);
    }
    return reserved.current() + missing <= most;
  }

  private void commit(Range range, long size, long missing) {
    long room = Math.min(most, fairShare(size)) - reserved.current() - missing;
    long ahead = size <= step / 4 ? Math.clamp(step - missing, 0, Math.max(0, room)) : 0;
    try {
      range.commit(handle, ahead);
    } catch (RuntimeException e) {
      range.free(handle);
      count();
      throw e;
    }
  }

  /** What may be held without looking for memory that is not needed where it is. */
  private long fairShare(long size) {
    long peak = Math.max(taken.peak(), taken.current() + size);
    return peak + Math.max(step, peak / SLACK);
  }

  private boolean open(long size) {
    long bytes = backing == Backing.ARENAS ? memoryFor(size) : addressesFor(size);
    if (bytes == 0) {
      return false;
    }
    long base = backing.reserve(bytes);
    while (base == 0 && bytes / 2 >= size) {
      bytes = bytes / 2 & -Pages.HUGE_PAGE;
      base = backing.reserve(bytes);
    }
    if (base == 0) {
      throw Pages.refused("reserve", bytes);
    }
    ranges.add(new Range(backing, base, bytes, unit));
    count();
    return true;
  }

  private long addressesFor(long size) {
    long spread = most > LARGEST_RANGE / SPREAD ? LARGEST_RANGE : most * SPREAD;
    return (Math.max(spread, size) + Pages.HUGE_PAGE - 1) & -Pages.HUGE_PAGE;
  }

  private long memoryFor(long size) {
    if (Pages.whole(size) > most - reserved.current()) {
      retries++;
      release(Long.MAX_VALUE);
    }
    long room = most - reserved.current();
    if (Pages.whole(size) > room) {
      return 0;
    }
    return size <= step / 4 ? Math.min(step, room) : Pages.whole(size);
  }

  private int indexOf(long address) {
    int index = 0;
    while (!ranges.get(index).contains(address)) {
      index++;
    }
    return index;
  }

  /** A range without reservation gives its memory back as a whole. */
  private void closeIfIdle(int index) {
    if (backing == Backing.ARENAS && ranges.get(index).isIdle()) {
      drop(index);
    }
  }

  private void drop(int index) {
    Range range = ranges.remove(index);
    earlierCalls += range.systemCalls() + range.close();
  }

  private void count() {
    long held = 0;
    for (int i = 0; i < ranges.size(); i++) {
      held += ranges.get(i).committed();
    }
    reserved.change(held - reserved.current());
    inactive.change(held - taken.current() - inactive.current());
  }
}
