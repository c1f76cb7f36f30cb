package dev.tern.internal.memory;

/**
 * The free blocks of a {@link BlockArena}, in two indexes: by (size, offset) in bins of size, and
 * by offset. The second index is made when {@link #at} is first called.
 */
final class FreeBlocks {
  private static final int NONE = BlockArena.NONE;

  private final BlockRows rows;
  private final BinnedIndex bySize = new BinnedIndex(BlockRows.BINS);
  private final BinnedIndex byOffset = new BinnedIndex(1);
  private boolean hasOffsets;

  FreeBlocks(BlockRows rows) {
    this.rows = rows;
  }

  /** Makes a block free. */
  void insert(int block) {
    rows.setState(block, BlockRows.FREE);
    long size = rows.size(block);
    bySize.insert(block, BlockRows.binOf(size), size, rows.offset(block));
    if (hasOffsets) {
      byOffset.insert(block, 0, rows.offset(block), 0);
    }
  }

  void remove(int block) {
    bySize.remove(block);
    if (hasOffsets) {
      byOffset.remove(block);
    }
  }

  /** The smallest block of at least {@code size}, the lowest of several, or NONE. */
  int bestFit(long size) {
    int bin = BlockRows.binOf(size);
    int block = bySize.ceiling(bin, size, Long.MIN_VALUE);
    if (block != NONE) {
      return block;
    }
    int larger = bySize.binFrom(bin + 1);
    return larger == NONE ? NONE : bySize.first(larger);
  }

  /** The block that covers {@code size} bytes from {@code offset}, or NONE. */
  int at(long offset, long size) {
    if (!hasOffsets) {
      hasOffsets = true;
      for (int block = rows.first(); block != NONE; block = rows.after(block)) {
        if (rows.isFree(block)) {
          byOffset.insert(block, 0, rows.offset(block), 0);
        }
      }
    }
    int found = byOffset.floor(0, offset, Long.MAX_VALUE);
    boolean covers = found != NONE && rows.offset(found) + rows.size(found) >= offset + size;
    return covers ? found : NONE;
  }
}
