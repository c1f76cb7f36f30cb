package dev.tern.internal.search;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.util.Arrays;

/**
 * The vectors of items, in blocks of a device's memory. A block is a matrix of {@code width} rows:
 * row {@code p} has number {@code p} of the vectors of its items, so that a product with it takes
 * the terms of each score in order, however many users it is of.
 */
final class ItemVectors implements AutoCloseable {
  /** Items of a block. */
  static final int BLOCK = 4096;

  /** Floats between two rows of a block: they lie apart by no power of 2, which caches dislike. */
  static final int STRIDE = BLOCK + 16;

  private final Allocator allocator;
  private final int width;
  private long[] blocks = {};
  private int size;

  ItemVectors(Allocator allocator, int width) {
    this.allocator = allocator;
    this.width = width;
  }

  int size() {
    return size;
  }

  int width() {
    return width;
  }

  /** Blocks with items. */
  int blocks() {
    return (int) (((long) size + BLOCK - 1) / BLOCK);
  }

  /** The items of a block. */
  int count(int block) {
    return Math.min(BLOCK, size - block * BLOCK);
  }

  long address(int block) {
    return blocks[block];
  }

  /**
   * Appends items.
   *
   * @param vectors side by side
   * @param rows which of these, the first {@code count}
   */
  void add(float[] vectors, int[] rows, int count) {
    reserve(size + count);
    for (int done = 0; done < count; ) {
      int place = size % BLOCK;
      int fitting = Math.min(count - done, BLOCK - place);
      long block = blocks[size / BLOCK];
      for (int p = 0; p < width; p++) {
        long to = block + 4L * ((long) p * STRIDE + place);
        for (int i = 0; i < fitting; i++) {
          Memory.setFloat(to + 4L * i, vectors[rows[done + i] * width + p]);
        }
      }
      size += fitting;
      done += fitting;
    }
  }

  /** Takes memory for so many items in all. */
  void reserve(int items) {
    int wanted = (int) (((long) items + BLOCK - 1) / BLOCK);
    for (int block = blocks.length; block < wanted; block++) {
      long made = allocator.allocate(blockBytes(), "item vectors");
      Memory.zero(made, blockBytes());
      blocks = Arrays.copyOf(blocks, block + 1);
      blocks[block] = made;
    }
  }

  void clear() {
    size = 0;
  }

  private long blockBytes() {
    return 4L * width * STRIDE;
  }

  long bytes() {
    return blocks.length * blockBytes();
  }

  @Override
  public void close() {
    for (long block : blocks) {
      allocator.free(block);
    }
    blocks = new long[0];
  }
}
