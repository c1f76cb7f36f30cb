package dev.tern.internal.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The ranges of address space of a {@link Pool}, by index. Not thread-safe. Sizes are bytes. */
final class Ranges {
  static final int NONE = -1;

  private final Backing backing;
  private long unit;
  private final AllocationHistory history;
  private final List<Range> ranges = new ArrayList<>();
  private long handle;
  private long earlierCalls;

  Ranges(Backing backing, long unit, AllocationHistory history) {
    this.history = history;
    this.backing = backing;
    this.unit = unit;
  }

  int count() {
    return ranges.size();
  }

  Range get(int index) {
    return ranges.get(index);
  }

  /** The index of a range that gave a block of {@code size}, or NONE; sets the handle. */
  int place(long size) {
    for (int i = 0; i < ranges.size(); i++) {
      handle = ranges.get(i).allocate(size);
      if (handle != BlockArena.NONE) {
        return i;
      }
    }
    return NONE;
  }

  /** The handle of the block placed last. */
  long handle() {
    return handle;
  }

  /** The index of the range that contains an address of a block. */
  int indexOf(long address) {
    int index = 0;
    while (!ranges.get(index).contains(address)) {
      index++;
    }
    return index;
  }

  /**
   * Adds a range of {@code bytes}, or of fewer if the system has not as many; {@code least} or
   * more.
   */
  void add(long bytes, long least) {
    long wanted = bytes;
    long base = backing.reserve(wanted);
    while (base == 0 && wanted / 2 >= least) {
      wanted = wanted / 2 & -Pages.HUGE_PAGE;
      base = backing.reserve(wanted);
    }
    if (base == 0) {
      throw Pages.refused("reserve", wanted);
    }
    ranges.add(new Range(backing, base, wanted, unit, history));
  }

  /** Changes to units of {@code finer} bytes; false where they are as fine already. */
  boolean refine(long finer) {
    if (finer >= unit) {
      return false;
    }
    unit = finer;
    ranges.forEach(range -> range.refine(finer));
    return true;
  }

  /** Gives back a range whose memory goes only as a whole, if no block is live in it. */
  void closeIfIdle(int index) {
    if (backing.isWhole() && ranges.get(index).isIdle()) {
      close(index);
    }
  }

  /** Gives back all ranges. */
  void close() {
    while (!ranges.isEmpty()) {
      close(ranges.size() - 1);
    }
  }

  /** Bytes that have memory behind them. */
  long committed() {
    long bytes = 0;
    for (int i = 0; i < ranges.size(); i++) {
      bytes += ranges.get(i).committed();
    }
    return bytes;
  }

  /** All memory; {@code known} are the blocks that are live or wait, by address. */
  List<MemorySnapshot.Segment> describe(Map<Long, MemorySnapshot.Block> known) {
    List<MemorySnapshot.Segment> segments = new ArrayList<>();
    ranges.forEach(range -> range.describe(known, segments));
    return segments;
  }

  /** How often the system was called. */
  long systemCalls() {
    long calls = earlierCalls;
    for (int i = 0; i < ranges.size(); i++) {
      calls += ranges.get(i).systemCalls();
    }
    return calls;
  }

  private void close(int index) {
    Range range = ranges.remove(index);
    earlierCalls += range.systemCalls() + range.close();
  }
}
