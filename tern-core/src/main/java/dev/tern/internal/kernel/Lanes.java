package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;

/**
 * Reductions over the inner loop run in {@value #COUNT} lanes whatever the vector length: element
 * {@code i} goes to lane {@code i mod 16}, and lanes are combined as a fixed tree. So every vector
 * length and the scalar path give the same bits.
 */
public final class Lanes {
  /** Lanes of every inner reduction. */
  public static final int COUNT = 16;

  /** Bytes of one set of lanes. */
  public static final int BYTES = COUNT * Float.BYTES;

  private Lanes() {}

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

  /** Combines the lanes as a tree and adds the result to the float at {@code target}. */
  public static void sumInto(long scratch, long target) {
    for (int half = COUNT / 2; half > 0; half /= 2) {
      for (int lane = 0; lane < half; lane++) {
        long address = scratch + 4L * lane;
        Memory.setFloat(address, Memory.getFloat(address) + Memory.getFloat(address + 4L * half));
      }
    }
    Memory.setFloat(target, Memory.getFloat(target) + Memory.getFloat(scratch));
  }

  /** Raises the float at {@code target} to the largest lane. */
  public static void maxInto(long scratch, long target) {
    float result = Memory.getFloat(target);
    for (int lane = 0; lane < COUNT; lane++) {
      result = Math.max(result, Memory.getFloat(scratch + 4L * lane));
    }
    Memory.setFloat(target, result);
  }
}
