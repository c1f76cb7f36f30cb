package dev.tern.internal.memory;

import java.util.Arrays;
import java.util.function.ObjLongConsumer;

/**
 * Bookkeeping of {@link Allocator}: blocks are rows of primitive arrays, linked to their neighbours
 * in the slab; the numbers of free blocks stand sorted by (size, address), so that best fit with
 * the lowest address is one binary search.
 */
final class Blocks {
  /** No block. */
  static final int NONE = -1;

  private static final String NOBODY = "";

  /** What is done with each slab. */
  @FunctionalInterface
  interface SlabAction {
    void accept(long address, long bytes);
  }

  private long[] address = new long[64];

  /** Zero marks a row that is not in use. */
  private long[] size = new long[64];

  private int[] before = new int[64];
  private int[] after = new int[64];
  private boolean[] isFree = new boolean[64];
  private String[] holder = new String[64];
  private int rows;
  private int[] spare = new int[64];
  private int spareCount;
  private int[] free = new int[64];
  private int freeCount;
  private final AddressIndex live = new AddressIndex();

  long address(int block) {
    return address[block];
  }

  long size(int block) {
    return size[block];
  }

  /** The live block at {@code address}, or NONE. */
  int find(long address) {
    return live.get(address);
  }

  /** The smallest free block of at least {@code bytes}, the lowest of several; NONE if none. */
  int bestFit(long bytes) {
    int position = position(bytes, Long.MIN_VALUE);
    return position == freeCount ? NONE : free[position];
  }

  /** Makes the first {@code bytes} of a free block live and leaves the rest free. */
  void take(int block, long bytes, String by) {
    removeFree(block);
    if (size[block] > bytes) {
      int rest = row(address[block] + bytes, size[block] - bytes);
      size[block] = bytes;
      linkAfter(block, rest);
      insertFree(rest);
    }
    isFree[block] = false;
    holder[block] = by;
    live.put(address[block], block);
  }

  /** Makes a live block free and joins it with free neighbours; returns the joined block. */
  int release(int block) {
    live.remove(address[block]);
    holder[block] = NOBODY;
    int joined = block;
    int previous = before[block];
    if (previous != NONE && isFree[previous]) {
      removeFree(previous);
      absorb(previous, block);
      joined = previous;
    }
    int next = after[joined];
    if (next != NONE && isFree[next]) {
      removeFree(next);
      absorb(joined, next);
    }
    insertFree(joined);
    return joined;
  }

  /** True when a block fills its slab. */
  boolean isWholeSlab(int block) {
    return before[block] == NONE && after[block] == NONE;
  }

  /** A new slab as one free block. */
  int addSlab(long from, long bytes) {
    int block = row(from, bytes);
    before[block] = NONE;
    after[block] = NONE;
    insertFree(block);
    return block;
  }

  /** Forgets a slab whose only block is free. */
  void removeSlab(int block) {
    removeFree(block);
    dropRow(block);
  }

  /** The blocks that are free and fill their slab. */
  int[] freeSlabs() {
    return Arrays.stream(free, 0, freeCount).filter(this::isWholeSlab).toArray();
  }

  void forEachLive(ObjLongConsumer<String> action) {
    for (int row = 0; row < rows; row++) {
      if (size[row] > 0 && !isFree[row]) {
        action.accept(holder[row], size[row]);
      }
    }
  }

  void forEachSlab(SlabAction action) {
    for (int row = 0; row < rows; row++) {
      if (size[row] > 0 && before[row] == NONE) {
        long bytes = 0;
        for (int block = row; block != NONE; block = after[block]) {
          bytes += size[block];
        }
        action.accept(address[row], bytes);
      }
    }
  }

  private int row(long from, long bytes) {
    int row = spareCount > 0 ? spare[--spareCount] : rows++;
    if (row == address.length) {
      grow(2 * row);
    }
    address[row] = from;
    size[row] = bytes;
    holder[row] = NOBODY;
    return row;
  }

  private void grow(int length) {
    address = Arrays.copyOf(address, length);
    size = Arrays.copyOf(size, length);
    before = Arrays.copyOf(before, length);
    after = Arrays.copyOf(after, length);
    isFree = Arrays.copyOf(isFree, length);
    holder = Arrays.copyOf(holder, length);
    spare = Arrays.copyOf(spare, length);
    free = Arrays.copyOf(free, length);
  }

  private void dropRow(int row) {
    size[row] = 0;
    isFree[row] = false;
    spare[spareCount++] = row;
  }

  private void linkAfter(int block, int rest) {
    int next = after[block];
    after[block] = rest;
    before[rest] = block;
    after[rest] = next;
    if (next != NONE) {
      before[next] = rest;
    }
  }

  private void absorb(int block, int next) {
    size[block] += size[next];
    int beyond = after[next];
    after[block] = beyond;
    if (beyond != NONE) {
      before[beyond] = block;
    }
    dropRow(next);
  }

  private void insertFree(int block) {
    int position = position(size[block], address[block]);
    System.arraycopy(free, position, free, position + 1, freeCount - position);
    free[position] = block;
    freeCount++;
    isFree[block] = true;
  }

  private void removeFree(int block) {
    int position = position(size[block], address[block]);
    freeCount--;
    System.arraycopy(free, position + 1, free, position, freeCount - position);
    isFree[block] = false;
  }

  /** How many free blocks stand before (bytes, from). */
  private int position(long bytes, long from) {
    int low = 0;
    int high = freeCount;
    while (low < high) {
      int middle = (low + high) >>> 1;
      int block = free[middle];
      boolean smaller = size[block] < bytes || (size[block] == bytes && address[block] < from);
      if (smaller) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
