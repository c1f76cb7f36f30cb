package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;

/** Sums of partial results, one after the other. */
public final class Sums {
  /** The most rows that are added at once. */
  private static final int ROWS = 64;

  private static final long ONES = ones();

  private Sums() {}

  private static long ones() {
    long address = Memory.allocate(Arena.global(), 4L * ROWS, 64, "ones").address();
    for (int i = 0; i < ROWS; i++) {
      Memory.setFloat(address + 4L * i, 1);
    }
    return address;
  }

  /**
   * Adds {@code count} rows to {@code sums}, in order.
   *
   * @param rows address of the first; they lie {@code rowBytes} apart
   * @param sums address of {@code elements} floats, as many as a row has
   */
  public static void add(long rows, long rowBytes, int count, long sums, int elements) {
    add(Tiles.active(), rows, rowBytes, count, sums, elements);
  }

  static void add(TileKernel kernel, long rows, long rowBytes, int count, long sums, int elements) {
    for (int row = 0; row < count; row += ROWS) {
      // By a fused multiply-add with 1, which rounds as an addition does.
      kernel
          .blocks()
          .combine(
              ONES, rows + row * rowBytes, rowBytes, sums, elements, Math.min(ROWS, count - row));
    }
  }
}
