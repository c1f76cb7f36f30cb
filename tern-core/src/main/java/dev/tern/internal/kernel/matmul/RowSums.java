package dev.tern.internal.kernel.matmul;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;

/** Adds {@code count} rows of partial results, {@code rowBytes} apart, to sums, in order. */
public record RowSums(long rowBytes, int count) {
  /** Rows that are added in one call of the kernel. */
  private static final int ROWS = 64;

  private static final long ONES = ones();

  private static long ones() {
    long address = Memory.allocate(Arena.global(), 4L * ROWS, 64, "ones").address();
    for (int i = 0; i < ROWS; i++) {
      Memory.setFloat(address + 4L * i, 1);
    }
    return address;
  }

  /** Adds rows of {@code elements} floats, in order, to the floats at {@code sums}. */
  public void add(long rows, long sums, int elements) {
    add(TileKernels.active(), rows, sums, elements);
  }

  void add(TileKernel kernel, long rows, long sums, int elements) {
    for (int row = 0; row < count; row += ROWS) {
      // A fused multiply-add with 1 rounds as an addition does.
      int some = Math.min(ROWS, count - row);
      kernel.blocks().combine(ONES, rows + row * rowBytes, rowBytes, sums, elements, some);
    }
  }
}
