package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * {@link TileKernel} without vectors: serves where the Vector API is absent and until the vector
 * kernel is compiled. Blocks of 2 x 4 elements keep eight sums in registers.
 */
final class ScalarTile implements TileKernel {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final long REACH = 1L << 52;
  private final int columns;

  /**
   * @param columns width of a panel, a multiple of 4
   */
  ScalarTile(int columns) {
    this.columns = columns;
  }

  @Override
  public int columns() {
    return columns;
  }

  @Override
  public void tile(
      long a,
      long aRow,
      long aStep,
      long b,
      long bStep,
      long start,
      long startRow,
      long c,
      long cRow,
      int k) {
    for (int i = 0; i < ROWS; i += 2) {
      for (int j = 0; j < columns; j += 4) {
        block(
            a + i * aRow,
            aRow,
            aStep & (STRIDE_LIMIT - 1),
            b + 4L * j,
            bStep & (STRIDE_LIMIT - 1),
            start + i * startRow + 4L * j,
            startRow,
            c + i * cRow + 4L * j,
            cRow,
            k);
      }
    }
  }

  private static void block(
      long a,
      long aRow,
      long aStep,
      long b,
      long bStep,
      long start,
      long startRow,
      long c,
      long cRow,
      int k) {
    MemorySegment a0 = Memory.ALL.asSlice(a, REACH);
    MemorySegment a1 = Memory.ALL.asSlice(a + aRow, REACH);
    MemorySegment panel = Memory.ALL.asSlice(b, REACH);
    long next = start + startRow;
    float s00 = Memory.getFloat(start);
    float s01 = Memory.getFloat(start + 4);
    float s02 = Memory.getFloat(start + 8);
    float s03 = Memory.getFloat(start + 12);
    float s10 = Memory.getFloat(next);
    float s11 = Memory.getFloat(next + 4);
    float s12 = Memory.getFloat(next + 8);
    float s13 = Memory.getFloat(next + 12);
    for (int p = 0; p < k; p++) {
      long y = p * bStep;
      float b0 = panel.get(FLOAT, y);
      float b1 = panel.get(FLOAT, y + 4);
      float b2 = panel.get(FLOAT, y + 8);
      float b3 = panel.get(FLOAT, y + 12);
      float v = a0.get(FLOAT, p * aStep);
      s00 = Math.fma(v, b0, s00);
      s01 = Math.fma(v, b1, s01);
      s02 = Math.fma(v, b2, s02);
      s03 = Math.fma(v, b3, s03);
      v = a1.get(FLOAT, p * aStep);
      s10 = Math.fma(v, b0, s10);
      s11 = Math.fma(v, b1, s11);
      s12 = Math.fma(v, b2, s12);
      s13 = Math.fma(v, b3, s13);
    }
    long d = c + cRow;
    Memory.setFloat(c, s00);
    Memory.setFloat(c + 4, s01);
    Memory.setFloat(c + 8, s02);
    Memory.setFloat(c + 12, s03);
    Memory.setFloat(d, s10);
    Memory.setFloat(d + 4, s11);
    Memory.setFloat(d + 8, s12);
    Memory.setFloat(d + 12, s13);
  }

  @Override
  public void copy(long from, long fromRow, long to, long toRow, int rows, int columns) {
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < columns; j++) {
        Memory.setFloat(to + i * toRow + 4L * j, Memory.getFloat(from + i * fromRow + 4L * j));
      }
    }
  }
}
