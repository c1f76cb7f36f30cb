package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;

/**
 * The order in which the elements of a row are reduced. Element {@code i} goes to lane {@code i
 * mod} {@value #COUNT}; the lanes are combined in a fixed tree, every fourth lane first. So vectors
 * of any length and scalar code give the same bits.
 */
public final class ReductionLanes {
  /** Lanes of every reduction. */
  public static final int COUNT = 16;

  /** Bytes of one set of lanes. */
  public static final int BYTES = COUNT * Float.BYTES;

  /** Elements that a kernel of several passes takes at a time. */
  private static final int BLOCK_ELEMENTS = 1024;

  private ReductionLanes() {}

  /** Rows of {@code n} elements that a kernel of several passes takes at a time, 1 to 16. */
  public static int rowsAtATime(int n) {
    return Math.clamp(BLOCK_ELEMENTS / Math.max(1, n), 1, COUNT);
  }

  /** Sets all lanes at {@code scratch} to {@code value}. */
  public static void fill(long scratch, float value) {
    for (int lane = 0; lane < COUNT; lane++) {
      Memory.setFloat(scratch + 4L * lane, value);
    }
  }

  /** Adds {@code value} to lane {@code index mod 16}. */
  public static void sum(float value, long scratch, int index) {
    long address = scratch + 4L * (index & COUNT - 1);
    Memory.setFloat(address, Memory.getFloat(address) + value);
  }

  /** Raises lane {@code index mod 16} to at least {@code value}. */
  public static void max(float value, long scratch, int index) {
    long address = scratch + 4L * (index & COUNT - 1);
    Memory.setFloat(address, Math.max(Memory.getFloat(address), value));
  }

  /** The sum of the lanes. */
  public static float total(long scratch) {
    float a = fourth(scratch, 0) + fourth(scratch, 2);
    float b = fourth(scratch, 1) + fourth(scratch, 3);
    return a + b;
  }

  /** The sum of every fourth lane from {@code lane}. */
  private static float fourth(long scratch, int lane) {
    long at = scratch + 4L * lane;
    return Memory.getFloat(at)
        + Memory.getFloat(at + 32)
        + (Memory.getFloat(at + 16) + Memory.getFloat(at + 48));
  }

  /** The largest lane. */
  public static float largest(long scratch) {
    float a = Math.max(fourthMax(scratch, 0), fourthMax(scratch, 2));
    float b = Math.max(fourthMax(scratch, 1), fourthMax(scratch, 3));
    return Math.max(a, b);
  }

  private static float fourthMax(long scratch, int lane) {
    long at = scratch + 4L * lane;
    return Math.max(
        Math.max(Memory.getFloat(at), Memory.getFloat(at + 32)),
        Math.max(Memory.getFloat(at + 16), Memory.getFloat(at + 48)));
  }
}
