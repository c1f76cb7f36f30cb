package dev.tern.internal.memory;

/**
 * Places blocks of all sizes in one range of offsets. A new block takes the smallest free block
 * that fits, and the lowest of several (best fit). A freed block is joined with its free
 * neighbours. Blocks are 64-byte aligned and can be walked in order of their offsets.
 *
 * <p>The two ends of the range, as far as blocks ever reached, are reserved. The middle is
 * untouched and serves only where no free block fits. Short-lived blocks may start from one end and
 * long-lived ones from the other, so that these leave no gaps between those.
 *
 * <p>Bookkeeping is in primitive arrays: an operation takes O(log n) for n free blocks of similar
 * size, and no heap memory once the arrays are large enough. A handle holds a row and its
 * generation, so the handle of a freed block is refused. There is no memory behind the offsets, so
 * an arena can also try placements out. Not thread-safe. Sizes are bytes.
 */
public final class BlockArena {
  /** No block, no handle. */
  public static final int NONE = -1;

  /** Where in the range a block is looked for. */
  public enum End {
    /** At the low end of the hole, or of the untouched range. */
    LOW,
    /** At the high end. */
    HIGH,
    /**
     * At the high end of a hole between two blocks, so that the rest of the hole lies next to the
     * older neighbour. At the low end of the untouched range, and of a hole that borders on it.
     */
    INNER
  }

  private static final long ALIGNMENT = 64;

  private final long capacity;
  private final BlockRows rows = new BlockRows();
  private final FreeBlocks free = new FreeBlocks(rows);
  private final Gauge allocations = new Gauge();
  private final Gauge allocated = new Gauge();
  private final Gauge requested = new Gauge();
  private final Gauge reserved = new Gauge();

  /** The untouched block between the two reserved parts; it may have no bytes. */
  private final int untouched;

  /** An arena of {@code capacity} bytes, rounded down to 64; nothing is reserved yet. */
  public BlockArena(long capacity) {
    if (capacity < 0) {
      throw new IllegalArgumentException(
          "arena: got " + capacity + " bytes, expected at least 0; pass the size of the range");
    }
    this.capacity = capacity & -ALIGNMENT;
    untouched = rows.add(0, this.capacity);
    rows.setState(untouched, BlockRows.UNTOUCHED);
  }

  /** The size of a block for {@code bytes}: the next multiple of 64, at least 64. */
  public static long rounded(long bytes) {
    return Math.max(ALIGNMENT, (bytes + ALIGNMENT - 1) & -ALIGNMENT);
  }

  /** Size of the range: the hard limit. */
  public long capacity() {
    return capacity;
  }

  /** Live blocks, a number. */
  public Gauge allocations() {
    return allocations;
  }

  /** Bytes of live blocks, each rounded up to 64. */
  public Gauge allocatedBytes() {
    return allocated;
  }

  /** Bytes that were asked for, in live blocks. */
  public Gauge requestedBytes() {
    return requested;
  }

  /** How far blocks reach into the range, from both of its ends together. */
  public Gauge reservedBytes() {
    return reserved;
  }

  /**
   * A block of at least {@code bytes}, or NONE where no place is large enough.
   *
   * @param bytes at least 0; 0 gives a block of its own
   * @param end from which end of the fitting block, or of the untouched range, to take it
   * @param tag a number, at least 0, by which the caller recognizes the block
   */
  public long allocate(long bytes, End end, int tag) {
    requireSize(bytes);
    if (bytes > capacity) {
      return NONE;
    }
    long size = rounded(bytes);
    int block = free.bestFit(size);
    if (block != NONE) {
      free.remove(block);
    } else {
      block = reserve(size, end);
      if (block == NONE && trim() > 0) {
        block = reserve(size, end);
      }
    }
    return block == NONE ? NONE : take(block, skip(block, size, end), size, bytes, tag);
  }

  /** A block at {@code offset}, a multiple of 64; NONE unless that place is free. */
  public long allocateAt(long offset, long bytes, int tag) {
    requireSize(bytes);
    if (offset < 0 || offset % ALIGNMENT != 0) {
      throw new IllegalArgumentException(
          "allocateAt: got offset " + offset + ", expected a multiple of " + ALIGNMENT + " from 0");
    }
    long size = rounded(bytes);
    int block = free.at(offset, size);
    if (block != NONE) {
      free.remove(block);
    } else {
      block = reserveAt(offset, size);
      if (block == NONE && trim() > 0) {
        block = reserveAt(offset, size);
      }
    }
    return block == NONE ? NONE : take(block, offset - rows.offset(block), size, bytes, tag);
  }

  /**
   * Gives a block back.
   *
   * @return the free block that now contains it
   * @throws IllegalStateException when the handle's block is not live
   */
  public int free(long handle) {
    int block = live(handle, "free");
    allocations.remove(1);
    allocated.remove(rows.size(block));
    requested.remove(rows.requested(block));
    rows.retire(block);
    int joined = block;
    int previous = rows.before(block);
    if (previous != NONE && rows.isFree(previous)) {
      free.remove(previous);
      rows.absorbNext(previous);
      joined = previous;
    }
    int next = rows.after(joined);
    if (next != NONE && rows.isFree(next)) {
      free.remove(next);
      rows.absorbNext(joined);
    }
    free.insert(joined);
    return joined;
  }

  /** Makes free blocks next to the untouched range part of it; returns the bytes given up. */
  public long trim() {
    long before = rows.size(untouched);
    int low = rows.before(untouched);
    if (low != NONE && rows.isFree(low)) {
      free.remove(low);
      rows.growDown(untouched);
    }
    int high = rows.after(untouched);
    if (high != NONE && rows.isFree(high)) {
      free.remove(high);
      rows.absorbNext(untouched);
    }
    long given = rows.size(untouched) - before;
    reserved.remove(given);
    return given;
  }

  /** Offset of a live block from the start of the range. */
  public long offset(long handle) {
    return rows.offset(live(handle, "offset"));
  }

  /** The first block of the range; blocks are free, live or the untouched range. */
  public int firstBlock() {
    return rows.first();
  }

  /** The block of a live handle. */
  public int block(long handle) {
    return live(handle, "block");
  }

  /** The block at the next higher address, or NONE. */
  public int after(int block) {
    return rows.after(block);
  }

  /** The block at the next lower address, or NONE. */
  public int before(int block) {
    return rows.before(block);
  }

  /** Size of a block, a multiple of 64. */
  public long size(int block) {
    return rows.size(block);
  }

  /** Offset of a block, live or free. */
  public long start(int block) {
    return rows.offset(block);
  }

  /** The tag of a live block; NONE for one that is free or untouched. */
  public int tag(int block) {
    return rows.isLive(block) ? rows.tag(block) : NONE;
  }

  /** Gives a live block another tag. */
  public void setTag(long handle, int tag) {
    rows.setTag(live(handle, "setTag"), tag);
  }

  /** How many bytes of a free block to leave before the new block. */
  private long skip(int block, long size, End end) {
    boolean low = end == End.LOW || (end == End.INNER && rows.after(block) == untouched);
    return low ? 0 : rows.size(block) - size;
  }

  /** Makes a block of at least {@code size} at an end of the untouched range; it is in no index. */
  private int reserve(long size, End end) {
    boolean fromLow = end != End.HIGH;
    int edge = fromLow ? rows.before(untouched) : rows.after(untouched);
    boolean joins = edge != NONE && rows.isFree(edge);
    long more = joins ? size - rows.size(edge) : size;
    if (more > rows.size(untouched)) {
      return NONE;
    }
    if (joins) {
      free.remove(edge);
    }
    reserved.add(more);
    int added =
        fromLow ? rows.cutLow(untouched, more) : rows.split(untouched, rows.size(untouched) - more);
    if (!joins) {
      return added;
    }
    int low = fromLow ? edge : added;
    rows.absorbNext(low);
    return low;
  }

  /** The same at the low end, for a block that covers {@code size} bytes from {@code offset}. */
  private int reserveAt(long offset, long size) {
    long from = rows.offset(untouched);
    int edge = rows.before(untouched);
    boolean joins = edge != NONE && rows.isFree(edge) && rows.offset(edge) <= offset;
    if ((!joins && offset < from) || offset + size > from + rows.size(untouched)) {
      return NONE;
    }
    return reserve(offset + size - (joins ? rows.offset(edge) : from), End.LOW);
  }

  /** Makes a part of a block live, and the rest free blocks. The block must be in no index. */
  private long take(int block, long skip, long size, long bytes, int tag) {
    int taken = block;
    if (skip > 0) {
      taken = rows.split(block, skip);
      free.insert(block);
    }
    if (rows.size(taken) > size) {
      free.insert(rows.split(taken, size));
    }
    allocations.add(1);
    allocated.add(size);
    requested.add(bytes);
    return rows.enliven(taken, bytes, tag);
  }

  private int live(long handle, String op) {
    int block = rows.find(handle);
    if (block == NONE) {
      throw new IllegalStateException(
          "%s: got handle 0x%x, whose block is not live, expected a live one; free each block once"
              .formatted(op, handle));
    }
    return block;
  }

  private static void requireSize(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException(
          "allocate: got " + bytes + " bytes, expected at least 0; check the sizes");
    }
  }
}
