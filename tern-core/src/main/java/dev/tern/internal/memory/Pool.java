package dev.tern.internal.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Memory under one budget, behind the addresses of several {@link Range}s. Gaps between blocks may
 * hold only a small share of the most that was ever live. Beyond that share they lend memory: it
 * moves from free addresses to the addresses that a request needs, so the memory held follows the
 * memory in use, however blocks lie. Lending calls the system. It therefore ends when several times
 * the live bytes were lent; a program that leaves new gaps all the time gets more memory instead.
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
  private final AllocationHistory history;
  private final List<Range> ranges = new ArrayList<>();
  private final Gauge taken = new Gauge();
  private final Gauge reserved = new Gauge();
  private final Gauge inactive = new Gauge();

  /** The most live bytes at a moment when memory was missing, as magazines keep nothing then. */
  private long high;

  private Optional<String> refusal = Optional.empty();
  private long lent;
  private long retries;

  /** Ranges add and remove memory by multiples of it. */
  private long unit;

  /** The block placed last. */
  private long handle;

  /** System calls for ranges that were given back. */
  private long earlierCalls;

  /**
   * An empty pool.
   *
   * @param budget bounds what is held from the system, rounded up to whole pages
   * @param recall frees blocks that nobody needs; false when there are none
   */
  Pool(long budget, Backing backing, BooleanSupplier recall, AllocationHistory history) {
    this.backing = backing;
    this.recall = recall;
    this.history = history;
    long share = Long.highestOneBit(Math.max(1, budget / 64));
    step = Math.clamp(share, SMALLEST_STEP, LARGE);
    unit = Math.clamp(share, backing.unit(), largestUnit());
    most = Pages.whole(budget) / unit * unit;
  }

  /** Freed blocks of more bytes give their memory back at once. */
  long exceptional() {
    return most / EXCEPTIONAL;
  }

  /** The address of a new block of {@code size}, a multiple of 64; 0 where there is no room. */
  long allocate(long size) {
    Range range = size > most ? null : place(size);
    if (range != null && range.missing(handle) > 0 && recallAround(range)) {
      range = place(size);
    }
    if (range == null) {
      return 0;
    }
    long missing = range.missing(handle);
    boolean isFunded = missing == 0 || fund(size, missing);
    if (!isFunded && refine(size)) {
      missing = range.missing(handle);
      isFunded = fund(size, missing);
    }
    if (!isFunded) {
      range.free(handle);
      return 0;
    }
    if (missing > 0 && !commit(range, size, missing)) {
      return 0;
    }
    taken.change(size);
    count();
    return range.address(handle);
  }

  /** The handle of the block allocated last. */
  long handle() {
    return handle;
  }

  /** Frees a block. */
  void free(long address, long block) {
    int index = 0;
    while (!ranges.get(index).contains(address)) {
      index++;
    }
    Range range = ranges.get(index);
    long size = range.size(block);
    int hole = range.free(block);
    taken.change(-size);
    if (size > exceptional()) {
      range.release(hole, Long.MAX_VALUE);
      closeIfIdle(range);
    }
    count();
  }

  /** Gives {@code wanted} bytes of memory of free places back, or all that there is. */
  void release(long wanted) {
    long target = Math.max(0, reserved.current() - wanted);
    for (int i = ranges.size() - 1; i >= 0 && reserved.current() > target; i--) {
      Range range = ranges.get(i);
      range.release(reserved.current() - target);
      closeIfIdle(range);
      count();
    }
  }

  void close() {
    while (!ranges.isEmpty()) {
      close(ranges.getLast());
    }
    taken.change(-taken.current());
    count();
  }

  /** Bytes of blocks that were not freed here, some of which magazines keep. */
  Gauge taken() {
    return taken;
  }

  /** Bytes held from the system. */
  Gauge reserved() {
    return reserved;
  }

  /** Bytes held from the system that are in no block. */
  Gauge inactive() {
    return inactive;
  }

  /** All memory; {@code known} are the live blocks, by address. */
  List<MemorySnapshot.Segment> describe(Map<Long, MemorySnapshot.Block> known) {
    List<MemorySnapshot.Segment> segments = new ArrayList<>();
    ranges.forEach(range -> range.describe(known, segments));
    return segments;
  }

  /** How often the budget was full and memory was collected for a request. */
  long retries() {
    return retries;
  }

  /** How often the system was called. */
  long systemCalls() {
    return earlierCalls + ranges.stream().mapToLong(Range::systemCalls).sum();
  }

  /** Places a block in a range, a new one where no other has a place; null where that fails. */
  private @Nullable Range place(long size) {
    Range range = placeInKnown(size);
    if (range == null && recall.getAsBoolean()) {
      range = placeInKnown(size);
    }
    if (range != null) {
      return range;
    }
    long bytes = backing.isWhole() ? memoryFor(size) : addressesFor(size);
    if (bytes == 0) {
      return null;
    }
    addRange(bytes, size);
    count();
    return placeInKnown(size);
  }

  private @Nullable Range placeInKnown(long size) {
    for (int i = 0; i < ranges.size(); i++) {
      handle = ranges.get(i).allocate(size);
      if (handle != BlockArena.NONE) {
        return ranges.get(i);
      }
    }
    return null;
  }

  /** Adds a range of {@code bytes}, or the most that the system has from {@code least} bytes on. */
  private void addRange(long bytes, long least) {
    long wanted = bytes;
    long base = backing.reserve(wanted);
    while (base == 0 && wanted / 2 >= least) {
      wanted = wanted / 2 & -largestUnit();
      base = backing.reserve(wanted);
    }
    if (base == 0) {
      throw Pages.refused("reserve", wanted);
    }
    ranges.add(new Range(backing, base, wanted, unit, history));
  }

  /** Gives back a range whose memory goes only as a whole, if no block is live in it. */
  private void closeIfIdle(Range range) {
    if (backing.isWhole() && range.isIdle()) {
      close(range);
    }
  }

  private void close(Range range) {
    ranges.remove(range);
    earlierCalls += range.systemCalls() + range.close();
  }

  /** Frees the block just placed if magazines free others: it may lie better among these. */
  private boolean recallAround(Range range) {
    long placed = handle;
    if (!recall.getAsBoolean()) {
      return false;
    }
    range.free(placed);
    return true;
  }

  /** Makes room in the budget for {@code missing} bytes more; false where that fails. */
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
   * Makes units smaller where blocks would fit except for the unused parts of their units: small
   * blocks far apart leave such parts. Huge pages are lost where that gives memory back.
   */
  private boolean refine(long size) {
    long finer = Math.max(backing.unit(), Long.highestOneBit(Math.max(1, most / MOST_UNITS)));
    if (taken.current() + size > most || backing.isWhole() || finer >= unit) {
      return false;
    }
    unit = finer;
    ranges.forEach(range -> range.refine(finer));
    return true;
  }

  /** Puts memory behind the block just placed; frees it where the backing has none. */
  private boolean commit(Range range, long size, long missing) {
    long room = Math.min(most, fairShare()) - reserved.current() - missing;
    long ahead = size <= step / 4 ? Math.clamp(step - missing, 0, Math.max(0, room)) : 0;
    refusal = Optional.empty();
    try {
      try {
        range.commit(handle, ahead);
      } catch (OutOfBudgetException e) {
        // Others use what the budget allows: memory of free places may be enough.
        count();
        retries++;
        release(Long.MAX_VALUE);
        range.commit(handle, 0);
      }
      return true;
    } catch (OutOfBudgetException e) {
      refusal = Optional.of(String.valueOf(e.getMessage()));
      range.free(handle);
      count();
      return false;
    } catch (RuntimeException e) {
      range.free(handle);
      count();
      throw e;
    }
  }

  /** Why the backing had no memory for the request before; empty where it had. */
  Optional<String> refusal() {
    return refusal;
  }

  private long largestUnit() {
    return Math.max(Pages.HUGE_PAGE, backing.unit());
  }

  /** Bytes that may be held before gaps must lend. */
  private long fairShare() {
    return high + Math.max(step, high / SLACK);
  }

  private long addressesFor(long size) {
    long spread = most > LARGEST_RANGE / SPREAD ? LARGEST_RANGE : most * SPREAD;
    return (Math.max(spread, size) + largestUnit() - 1) & -largestUnit();
  }

  /** The bytes of a new range where all of it is memory; 0 when the budget has no room. */
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
    long committed = 0;
    for (int i = 0; i < ranges.size(); i++) {
      committed += ranges.get(i).committed();
    }
    reserved.change(committed - reserved.current());
    inactive.change(reserved.current() - taken.current() - inactive.current());
  }
}
