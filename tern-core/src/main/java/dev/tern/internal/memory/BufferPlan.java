package dev.tern.internal.memory;

import java.util.Arrays;

/**
 * Many tensors in one block: all are reserved first, then the memory of all is allocated at once
 * and lies in the order in which they were reserved. Each begins at an alignment of its own;
 * between those {@linkplain #append appended} to one another there is nothing, so that they can be
 * read as one.
 *
 * <p>Not thread-safe. Sizes are bytes.
 */
public final class BufferPlan implements AutoCloseable {
  private static final int MOST_ALIGNED = 64;

  private final Allocator allocator;
  private final String holder;
  private long[] offset = new long[8];
  private int count;
  private long bytes;
  private long base;
  private boolean closed;

  /** An empty plan for memory of {@code allocator}, which {@code holder} will hold. */
  public BufferPlan(Allocator allocator, String holder) {
    this.allocator = allocator;
    this.holder = holder;
  }

  /**
   * Reserves what a tensor takes; returns the tensor's number.
   *
   * @param size at least 0
   * @param alignment a power of two up to 64
   * @throws IllegalStateException when the memory was allocated already
   */
  public int reserve(long size, int alignment) {
    if (Integer.bitCount(alignment) != 1 || alignment < 0 || alignment > MOST_ALIGNED) {
      throw new IllegalArgumentException(
          "reserve: got alignment %d for %s, expected a power of two up to %d"
              .formatted(alignment, holder, MOST_ALIGNED));
    }
    return put((bytes + alignment - 1) & -alignment, size);
  }

  /** Reserves the same directly behind what was reserved last. */
  public int append(long size) {
    return put(bytes, size);
  }

  /** What all reserved so far take together. */
  public long bytes() {
    return bytes;
  }

  /**
   * Allocates the memory of all.
   *
   * @throws OutOfBudgetException when the budget has no room for it; the plan stays as it was
   * @throws IllegalStateException when it was allocated already
   */
  public void allocate() {
    requireReserving("allocate");
    base = allocator.allocate(bytes, holder);
  }

  /** Where a tensor lies, by its number; memory must be allocated. */
  public long address(int number) {
    if (base == 0) {
      throw new IllegalStateException(
          "address: got a plan of %s without memory, expected one with it; %s"
              .formatted(holder, closed ? "close it after its last user" : "allocate first"));
    }
    if (number < 0 || number >= count) {
      throw new IllegalArgumentException(
          "address: got number %d of %s, expected one of the %d reserved"
              .formatted(number, holder, count));
    }
    return base + offset[number];
  }

  /** Frees the memory, if it was allocated; the plan is then unusable. */
  @Override
  public void close() {
    if (base != 0) {
      allocator.free(base);
      base = 0;
    }
    closed = true;
  }

  private int put(long at, long size) {
    requireReserving("reserve");
    if (size < 0 || size > Long.MAX_VALUE / 2 - at) {
      throw new IllegalArgumentException(
          "reserve: got %d bytes for %s behind %d, expected at least 0 and less than 2^62 in all"
              .formatted(size, holder, at));
    }
    if (count == offset.length) {
      offset = Arrays.copyOf(offset, 2 * count);
    }
    offset[count] = at;
    bytes = at + size;
    return count++;
  }

  private void requireReserving(String op) {
    if (closed) {
      throw new IllegalStateException(
          "%s: got a closed plan of %s, expected an open one; close it after its last user"
              .formatted(op, holder));
    }
    if (base != 0) {
      throw new IllegalStateException(
          "%s: got a plan of %s with memory, expected one without; allocate once, after all is"
                  .formatted(op, holder)
              + " reserved");
    }
  }
}
