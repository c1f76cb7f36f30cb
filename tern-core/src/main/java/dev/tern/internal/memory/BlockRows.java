package dev.tern.internal.memory;

import java.util.Arrays;

/** Blocks of a {@link BlockArena} as rows of primitive arrays, linked in order of address. */
final class BlockRows {
  static final int NONE = BlockArena.NONE;
  static final byte UNUSED = 0;
  static final byte FREE = 1;
  static final byte LIVE = 2;
  static final byte UNTOUCHED = 3;

  /** Each doubling of the size has eight bins. */
  static final int BINS = 64 * 8;

  private long[] offset = new long[64];
  private long[] size = new long[64];
  private long[] requested = new long[64];
  private int[] before = new int[64];
  private int[] after = new int[64];
  private int[] generation = new int[64];
  private int[] tag = new int[64];
  private byte[] state = new byte[64];
  private int[] spare = new int[64];
  private int spareCount;
  private int count;
  private int first = NONE;

  /** The bin of blocks of {@code size}; larger sizes never have a lower bin. */
  static int binOf(long size) {
    int log = 63 - Long.numberOfLeadingZeros(size);
    return log << 3 | (int) (size >>> (log - 3)) & 7;
  }

  /** The first row, linked to nothing. */
  int add(long from, long bytes) {
    int row = row(from, bytes);
    before[row] = NONE;
    after[row] = NONE;
    first = row;
    return row;
  }

  int first() {
    return first;
  }

  long offset(int block) {
    return offset[block];
  }

  long size(int block) {
    return size[block];
  }

  long requested(int block) {
    return requested[block];
  }

  int before(int block) {
    return before[block];
  }

  int after(int block) {
    return after[block];
  }

  int tag(int block) {
    return tag[block];
  }

  void setTag(int block, int by) {
    tag[block] = by;
  }

  boolean isFree(int block) {
    return state[block] == FREE;
  }

  boolean isLive(int block) {
    return state[block] == LIVE;
  }

  void setState(int block, byte to) {
    state[block] = to;
  }

  /** Makes a block live and returns its handle. */
  long enliven(int block, long bytes, int by) {
    state[block] = LIVE;
    requested[block] = bytes;
    tag[block] = by;
    return (long) generation[block] << 32 | block;
  }

  /** Makes the handles of a block invalid. */
  void retire(int block) {
    generation[block] = generation[block] + 1 & Integer.MAX_VALUE;
  }

  /** The live block of a handle, or NONE. */
  int find(long handle) {
    int block = (int) handle;
    boolean known = block >= 0 && block < count && state[block] == LIVE;
    return known && generation[block] == handle >>> 32 ? block : NONE;
  }

  /** Cuts a block after {@code bytes}; returns the upper part. */
  int split(int block, long bytes) {
    int upper = row(offset[block] + bytes, size[block] - bytes);
    size[block] = bytes;
    int next = after[block];
    after[block] = upper;
    before[upper] = block;
    after[upper] = next;
    if (next != NONE) {
      before[next] = upper;
    }
    return upper;
  }

  /** Cuts a new block off the low end of one that keeps its row. */
  int cutLow(int block, long bytes) {
    int lower = row(offset[block], bytes);
    offset[block] += bytes;
    size[block] -= bytes;
    int previous = before[block];
    before[lower] = previous;
    after[lower] = block;
    before[block] = lower;
    if (previous == NONE) {
      first = lower;
    } else {
      after[previous] = lower;
    }
    return lower;
  }

  /** Joins a block with the one after it, whose row goes. */
  void absorbNext(int block) {
    int next = after[block];
    size[block] += size[next];
    int beyond = after[next];
    after[block] = beyond;
    if (beyond != NONE) {
      before[beyond] = block;
    }
    drop(next);
  }

  /** Joins a block with the one before it, whose row goes. */
  void growDown(int block) {
    int lower = before[block];
    offset[block] = offset[lower];
    size[block] += size[lower];
    int beyond = before[lower];
    before[block] = beyond;
    if (beyond == NONE) {
      first = block;
    } else {
      after[beyond] = block;
    }
    drop(lower);
  }

  private void drop(int row) {
    state[row] = UNUSED;
    spare[spareCount++] = row;
  }

  private int row(long from, long bytes) {
    int row = spareCount > 0 ? spare[--spareCount] : count++;
    if (row == size.length) {
      grow(2 * row);
    }
    offset[row] = from;
    size[row] = bytes;
    return row;
  }

  private void grow(int length) {
    offset = Arrays.copyOf(offset, length);
    size = Arrays.copyOf(size, length);
    requested = Arrays.copyOf(requested, length);
    before = Arrays.copyOf(before, length);
    after = Arrays.copyOf(after, length);
    generation = Arrays.copyOf(generation, length);
    tag = Arrays.copyOf(tag, length);
    state = Arrays.copyOf(state, length);
    spare = Arrays.copyOf(spare, length);
  }
}
