package dev.tern.internal.memory;

import java.util.Arrays;

/**
 * The blocks of a {@link Magazine} by slot, and a hash index from addresses to slots. The numbers
 * of a block lie in one cache line. The index uses open addressing with linear probing and no
 * tombstones. It holds slots only, as the rows hold the addresses.
 *
 * <p>Not thread-safe.
 */
final class MagazineRows {
  static final int NONE = -1;

  /** Stands for the bytes asked for where a block is not live. */
  static final long NOT_LIVE = -1;

  private static final int FEW = 64;
  private static final int WIDTH_LOG = 2;
  private static final int SIZE = 1;
  private static final int REQUESTED = 2;
  private static final int NEXT = 3;

  /** Four numbers a slot: address, size, bytes asked for, and the next slot of a list. */
  private long[] rows = new long[FEW << WIDTH_LOG];

  private long[] handle = new long[FEW];
  private String[] holder = new String[FEW];
  private int count;
  private int spare = NONE;

  /** Slots plus one; 0 marks an empty place. At least three of four places are empty. */
  private int[] index = new int[4 * FEW];

  private int shift = Long.numberOfLeadingZeros(4 * FEW) + 1;
  private int used;

  /** All slots are below it. */
  int count() {
    return count;
  }

  long address(int slot) {
    return rows[slot << WIDTH_LOG];
  }

  long size(int slot) {
    return rows[(slot << WIDTH_LOG) + SIZE];
  }

  /** How many bytes a live block was asked for; NOT_LIVE for another. */
  long requested(int slot) {
    return rows[(slot << WIDTH_LOG) + REQUESTED];
  }

  void setRequested(int slot, long bytes) {
    rows[(slot << WIDTH_LOG) + REQUESTED] = bytes;
  }

  int next(int slot) {
    return (int) rows[(slot << WIDTH_LOG) + NEXT];
  }

  void setNext(int slot, int to) {
    rows[(slot << WIDTH_LOG) + NEXT] = to;
  }

  long handle(int slot) {
    return handle[slot];
  }

  String holder(int slot) {
    return holder[slot];
  }

  void setHolder(int slot, String by) {
    // A reference is stored only where it changes: each store marks a card that threads may share.
    if (holder[slot] != by) {
      holder[slot] = by;
    }
  }

  /** The slot of an address, or NONE. */
  int find(long address) {
    int mask = index.length - 1;
    for (int at = home(address); index[at] != 0; at = at + 1 & mask) {
      if (address(index[at] - 1) == address) {
        return index[at] - 1;
      }
    }
    return NONE;
  }

  /** Adds a block at an address that is not there; returns its slot. */
  int add(long address, long bytes, long byHandle) {
    int slot = spare;
    if (slot != NONE) {
      spare = next(slot);
    } else {
      slot = count++;
      if (slot == handle.length) {
        grow(2 * slot);
      }
    }
    rows[slot << WIDTH_LOG] = address;
    rows[(slot << WIDTH_LOG) + SIZE] = bytes;
    rows[(slot << WIDTH_LOG) + REQUESTED] = NOT_LIVE;
    handle[slot] = byHandle;
    if (4 * ++used > index.length) {
      widenIndex();
    }
    enter(slot);
    return slot;
  }

  /** Removes a block and moves later slots of its run back, so that no probe ends too early. */
  void remove(int slot) {
    int mask = index.length - 1;
    int hole = home(address(slot));
    while (index[hole] != slot + 1) {
      hole = hole + 1 & mask;
    }
    for (int at = hole + 1 & mask; index[at] != 0; at = at + 1 & mask) {
      int fromHome = at - home(address(index[at] - 1)) & mask;
      int fromHole = at - hole & mask;
      if (fromHome >= fromHole) {
        index[hole] = index[at];
        hole = at;
      }
    }
    index[hole] = 0;
    used--;
    setNext(slot, spare);
    spare = slot;
  }

  /** Removes all blocks. */
  void clear() {
    Arrays.fill(index, 0);
    used = 0;
    count = 0;
    spare = NONE;
  }

  private void widenIndex() {
    int[] old = index;
    index = new int[2 * old.length];
    shift--;
    for (int entry : old) {
      if (entry != 0) {
        enter(entry - 1);
      }
    }
  }

  private void enter(int slot) {
    int at = home(address(slot));
    while (index[at] != 0) {
      at = at + 1 & index.length - 1;
    }
    index[at] = slot + 1;
  }

  private int home(long address) {
    // The highest bits of the product; the lower bits repeat for addresses at equal distances.
    return (int) (address * 0x9E3779B97F4A7C15L >>> shift);
  }

  private void grow(int length) {
    rows = Arrays.copyOf(rows, length << WIDTH_LOG);
    handle = Arrays.copyOf(handle, length);
    holder = Arrays.copyOf(holder, length);
  }
}
