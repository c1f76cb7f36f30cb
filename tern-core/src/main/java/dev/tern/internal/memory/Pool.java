package dev.tern.internal.memory;

import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Memory under one budget, behind addresses of {@link Ranges}. Gaps between blocks may hold only a
 * small share of the most that was ever live. Beyond that share they lend memory: it moves from
 * free addresses to those that a request needs, so the memory held follows the memory in use,
 * however blocks lie. Lending calls the system. It therefore ends when several times the live bytes
 * were lent, and a program that leaves new gaps all the time gets more memory instead.
 *
 * <p>Not thread-safe. Sizes are bytes.
 */
final class Pool {
  /** Blocks of this size or more are worth a search for their best place. */
  static final long LARGE = 16 << 20;

  private static final long SMALLEST_STEP = 64 << 10;
  private static final long LARGEST_RANGE = 1L << 38;

  /** Bytes of address space for each byte of memory, as there are gaps between blocks. */
  private static final int SPREAD = 4;

  /** Gaps may hold 1/64 of the most that was ever live. */
  private static final int SLACK = 64;

  /** How many times the most that was ever live may be lent. */
  private static final int LENDINGS = 4;

  /** The most pieces that the budget is cut into, as the system bounds the number of mappings. */
  private static final long MOST_UNITS = 1 << 14;

  /** A block of more than 1/4 of the budget is not expected to be asked for again. */
  private static final int EXCEPTIONAL = 4;

  private final long most;
  private final long step;
  private final Backing backing;
  private final BooleanSupplier recall;
  private final Ranges ranges;
  private final ArenaStatistics.Stat taken = new ArenaStatistics.Stat();
  private final ArenaStatistics.Stat reserved = new ArenaStatistics.Stat();
  private final ArenaStatistics.Stat inactive = new ArenaStatistics.Stat();

  /** The most live bytes at a moment when memory was missing, as magazines keep nothing then. */
  private long high;

  private long lent;
  private long retries;

  /**
   * An empty pool.
   *
   * @param budget bounds what is held from the system, rounded up to whole pages
   * @param recall frees blocks that nobody needs; false when there are none
   */
  Pool(long budget, Backing backing, BooleanSupplier recall, AllocationHistory history) {
    this.backing = backing;
    this.recall = recall;
    long share = Long.highestOneBit(Math.max(1, budget / 64));
    step = Math.clamp(share, SMALLEST_STEP, LARGE);
    long unit = Math.clamp(share, Pages.PAGE, Pages.HUGE_PAGE);
    most = Pages.whole(budget) / unit * unit;
    ranges = new Ranges(backing, unit, history);
  }

  /** Freed blocks of more bytes give their memory back at once. */
  long exceptional() {
    return most / EXCEPTIONAL;
  }

  /** The address of a new block of {@code size}, a multiple of 64; 0 where there is no room. */
  long allocate(long size) {
    int index = size > most ? Ranges.NONE : place(size);
    if (index != Ranges.NONE && missing(index) > 0 && recallAround(index)) {
      index = place(size);
    }
    if (index == Ranges.NONE) {
      return 0;
    }
    Range range = ranges.get(index);
    long missing = missing(index);
    boolean isFunded = missing == 0 || fund(size, missing);
    if (!isFunded && refine(size)) {
      missing = missing(index);
      isFunded = fund(size, missing);
    }
    if (!isFunded) {
      range.free(ranges.handle());
      return 0;
    }
    if (missing > 0) {
      commit(range, size, missing);
    }
    taken.change(size);
    count();
    return range.address(ranges.handle());
  }

  /** The handle of the block allocated last. */
  long handle() {
    return ranges.handle();
  }

  /** Frees a block. */
  void free(long address, long handle) {
    int index = ranges.indexOf(address);
    Range range = ranges.get(index);
    long size = range.size(handle);
    int hole = range.free(handle);
    taken.change(-size);
    if (size > exceptional()) {
      range.release(hole, Long.MAX_VALUE);
      ranges.closeIfIdle(index);
    }
    count();
  }

  /** Gives memory of free places back until that is {@code wanted} bytes, or there is none left. */
  void release(long wanted) {
    long target = Math.max(0, reserved.current() - wanted);
    for (int i = ranges.count() - 1; i >= 0 && reserved.current() > target; i--) {
      ranges.get(i).release(reserved.current() - target);
      ranges.closeIfIdle(i);
      count();
    }
  }

  /** Gives all back. */
  void close() {
    ranges.close();
    taken.change(-taken.current());
    count();
  }

  /** Bytes of blocks that were not freed here, some of which magazines keep. */
  ArenaStatistics.Stat taken() {
    return taken;
  }

  /** Bytes held from the system. */
  ArenaStatistics.Stat reserved() {
    return reserved;
  }

  /** Bytes held from the system that are in no block. */
  ArenaStatistics.Stat inactive() {
    return inactive;
  }

  /** All memory; {@code known} are the blocks that are live or wait, by address. */
  List<MemorySnapshot.Segment> describe(Map<Long, MemorySnapshot.Block> known) {
    return ranges.describe(known);
  }

  /** Sets the peaks to the present values. */
  void resetPeaks() {
    taken.resetPeak();
    reserved.resetPeak();
    inactive.resetPeak();
  }

  /** How often the budget was full and memory was collected for a request. */
  long retries() {
    return retries;
  }

  /** How often the system was called. */
  long systemCalls() {
    return ranges.systemCalls();
  }

  /** The index of a range with a place, a new one where no other has any, or NONE. */
  private int place(long size) {
    int index = ranges.place(size);
    if (index == Ranges.NONE && recall.getAsBoolean()) {
      index = ranges.place(size);
    }
    if (index != Ranges.NONE) {
      return index;
    }
    long bytes = backing.isWhole() ? memoryFor(size) : addressesFor(size);
    if (bytes == 0) {
      return Ranges.NONE;
    }
    ranges.add(bytes, size);
    count();
    return ranges.place(size);
  }

  private long missing(int index) {
    return ranges.get(index).missing(ranges.handle());
  }

  /** Frees the block just placed if magazines free others, as it may lie better among those. */
  private boolean recallAround(int index) {
    long placed = ranges.handle();
    if (!recall.getAsBoolean()) {
      return false;
    }
    ranges.get(index).free(placed);
    return true;
  }

  /** Sees to it that {@code missing} bytes more may be held. */
  private boolean fund(long size, long missing) {
    high = Math.max(high, taken.current() + size);
    long before = reserved.current();
    long excess = Math.min(missing, before + missing - fairShare());
    if (excess > 0 && lent / LENDINGS < high) {
      release(excess);
      lent += before - reserved.current();
    }
    if (reserved.current() + missing > most) {
      retries++;
      release(reserved.current() + missing - most);
    }
    return reserved.current() + missing <= most;
  }

  /**
   * Where blocks would fit but for what they leave unused of units, as small ones that lie apart
   * do, units become smaller; huge pages are lost where that gives memory back.
   */
  private boolean refine(long size) {
    long finer = Math.max(Pages.PAGE, Long.highestOneBit(Math.max(1, most / MOST_UNITS)));
    return taken.current() + size <= most && backing.gives() && ranges.refine(finer);
  }

  private void commit(Range range, long size, long missing) {
    long room = Math.min(most, fairShare()) - reserved.current() - missing;
    long ahead = size <= step / 4 ? Math.clamp(step - missing, 0, Math.max(0, room)) : 0;
    try {
      range.commit(ranges.handle(), ahead);
    } catch (RuntimeException e) {
      range.free(ranges.handle());
      count();
      throw e;
    }
  }

  /** Bytes that may be held before gaps must lend. */
  private long fairShare() {
    return high + Math.max(step, high / SLACK);
  }

  private long addressesFor(long size) {
    long spread = most > LARGEST_RANGE / SPREAD ? LARGEST_RANGE : most * SPREAD;
    return (Math.max(spread, size) + Pages.HUGE_PAGE - 1) & -Pages.HUGE_PAGE;
  }

  /** How much memory to add where none can be reserved; 0 when the budget has no room. */
  private long memoryFor(long size) {
    if (Pages.whole(size) > most - reserved.current()) {
      retries++;
      release(reserved.current());
    }
    long room = most - reserved.current();
    if (Pages.whole(size) > room) {
      return 0;
    }
    return size <= step / 4 ? Math.min(step, room) : Pages.whole(size);
  }

  private void count() {
    reserved.change(ranges.committed() - reserved.current());
    inactive.change(reserved.current() - taken.current() - inactive.current());
  }
}
