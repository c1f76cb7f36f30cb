package dev.tern.internal.memory;

import dev.tern.internal.memory.AllocationHistory.Action;
import dev.tern.internal.memory.MemorySnapshot.Block;
import dev.tern.internal.memory.MemorySnapshot.State;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

/**
 * A piece of address space, the blocks in it, and the set of its units that have memory behind
 * them. The units of a block get memory when the block is allocated. They keep it after the block
 * is freed, until the memory is needed elsewhere.
 *
 * <p>Not thread-safe. Sizes are bytes.
 */
final class Range {
  private final Backing backing;
  private final long base;
  private final long bytes;
  private int unitShift;
  private final BlockArena arena;
  private BitSet filled;
  private final AllocationHistory history;
  private long committed;
  private long systemCalls = 1;

  /**
   * @param bytes a multiple of {@code unit}, unless all of it is memory
   * @param unit a power of two, at least a page
   */
  Range(Backing backing, long base, long bytes, long unit, AllocationHistory history) {
    this.history = history;
    this.backing = backing;
    this.base = base;
    this.bytes = bytes;
    unitShift = Long.numberOfTrailingZeros(unit);
    arena = new BlockArena(bytes);
    filled = new BitSet(units());
    if (backing.isWhole()) {
      filled.set(0, units());
      committed = bytes;
      history.note(Action.GROW, base, bytes, "");
    }
  }

  /** Adds and removes memory by smaller units from here on; {@code unit} divides the old. */
  void refine(long unit) {
    BitSet coarse = filled;
    int by = unitShift - Long.numberOfTrailingZeros(unit);
    unitShift -= by;
    filled = new BitSet(units());
    int to;
    for (int from = coarse.nextSetBit(0); from >= 0; from = coarse.nextSetBit(to)) {
      to = coarse.nextClearBit(from);
      filled.set(from << by, Math.min(to << by, units()));
    }
  }

  boolean contains(long address) {
    return address >= base && address - base < bytes;
  }

  /** Bytes that have memory behind them. */
  long committed() {
    return committed;
  }

  /** How often the system was called. */
  long systemCalls() {
    return systemCalls;
  }

  /** The handle of a new block, which may lack memory; NONE where no place is large enough. */
  long allocate(long size) {
    return arena.allocate(size, BlockArena.End.INNER, 0);
  }

  long address(long handle) {
    return base + arena.offset(handle);
  }

  long size(long handle) {
    return arena.size(arena.block(handle));
  }

  /** Frees a block; returns the free block that now contains it. */
  int free(long handle) {
    return arena.free(handle);
  }

  /** Bytes of units of a live block that have no memory. */
  long missing(long handle) {
    int last = lastUnit(arena.block(handle));
    long count = 0;
    int unit = filled.nextClearBit(firstUnit(arena.block(handle)));
    while (unit <= last) {
      int end = Math.min(last + 1, endOfHole(unit));
      count += end - unit;
      unit = filled.nextClearBit(end);
    }
    return count << unitShift;
  }

  /**
   * Puts memory behind a live block.
   *
   * @param ahead bytes that may be added behind its end, so that the system is called less often
   */
  void commit(long handle, long ahead) {
    int block = arena.block(handle);
    int units = (int) (bytes >> unitShift);
    int last = (int) Math.min(units - 1, lastUnit(block) + (ahead >> unitShift));
    int unit = filled.nextClearBit(firstUnit(block));
    while (unit <= last) {
      int end = Math.min(last + 1, endOfHole(unit));
      long length = (long) (end - unit) << unitShift;
      systemCalls += backing.commit(at(unit), length);
      filled.set(unit, end);
      committed += length;
      history.note(Action.GROW, at(unit), length, "");
      unit = filled.nextClearBit(end);
    }
  }

  /** Takes at most {@code most} bytes of memory from free blocks, those at low addresses first. */
  long release(long most) {
    long given = 0;
    int block = arena.firstBlock();
    while (block != BlockArena.NONE && given < most) {
      if (arena.tag(block) == BlockArena.NONE) {
        given += release(block, most - given);
      }
      block = arena.after(block);
    }
    return given;
  }

  /**
   * Takes the memory of whole units from a free block, and from the untouched block behind it, as
   * the two may share a unit. Returns the bytes.
   */
  long release(int block, long most) {
    if (backing.isWhole()) {
      return 0;
    }
    long unit = 1L << unitShift;
    int from = (int) ((arena.start(block) + unit - 1) >> unitShift);
    int next = arena.after(block);
    boolean isFree = next != BlockArena.NONE && arena.tag(next) == BlockArena.NONE;
    long behind = isFree ? arena.size(next) : 0;
    int to = (int) (arena.start(block) + arena.size(block) + behind >> unitShift);
    long given = 0;
    int at = filled.nextSetBit(from);
    while (at >= 0 && at < to && given < most) {
      long wanted = (most - given - 1 >> unitShift) + 1;
      int end = (int) Math.min(Math.min(to, filled.nextClearBit(at)), at + wanted);
      long length = (long) (end - at) << unitShift;
      systemCalls += backing.decommit(at(at), length);
      filled.clear(at, end);
      committed -= length;
      history.note(Action.TRIM, at(at), length, "");
      given += length;
      at = filled.nextSetBit(end);
    }
    return given;
  }

  /** True when no block is live. */
  boolean isIdle() {
    return arena.allocations().current() == 0;
  }

  /** Gives everything back to the system; returns the number of system calls. */
  int close() {
    if (backing.isWhole()) {
      history.note(Action.TRIM, base, bytes, "");
    }
    committed = 0;
    return backing.unreserve(base, bytes);
  }

  /**
   * Adds its memory, as runs of units.
   *
   * @param known live blocks by address
   */
  void describe(Map<Long, Block> known, List<MemorySnapshot.Segment> segments) {
    int block = arena.firstBlock();
    int to;
    for (int from = filled.nextSetBit(0); from >= 0; from = filled.nextSetBit(to)) {
      to = filled.nextClearBit(from);
      long low = (long) from << unitShift;
      long high = Math.min((long) to << unitShift, bytes);
      List<Block> blocks = new ArrayList<>();
      while (block != BlockArena.NONE && arena.start(block) < high) {
        long start = Math.max(low, arena.start(block));
        long end = Math.min(high, arena.start(block) + arena.size(block));
        if (start < end) {
          blocks.add(describe(block, start, end, known));
        }
        if (arena.start(block) + arena.size(block) > high) {
          break;
        }
        block = arena.after(block);
      }
      segments.add(new MemorySnapshot.Segment(base + low, high - low, blocks));
    }
  }

  private Block describe(int block, long start, long end, Map<Long, Block> known) {
    boolean isFree = arena.tag(block) == BlockArena.NONE;
    State state = isFree ? State.FREE : State.KEPT;
    Block other = new Block(base + start, end - start, 0, state, "");
    return isFree ? other : known.getOrDefault(base + start, other);
  }

  private int units() {
    return Math.toIntExact((bytes + (1L << unitShift) - 1) >> unitShift);
  }

  private long at(int unit) {
    return base + ((long) unit << unitShift);
  }

  private int firstUnit(int block) {
    return (int) (arena.start(block) >> unitShift);
  }

  private int lastUnit(int block) {
    return (int) (arena.start(block) + arena.size(block) - 1 >> unitShift);
  }

  private int endOfHole(int unit) {
    int next = filled.nextSetBit(unit);
    return next < 0 ? Integer.MAX_VALUE : next;
  }
}
