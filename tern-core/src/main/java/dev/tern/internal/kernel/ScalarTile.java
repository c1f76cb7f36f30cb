package dev.tern.internal.kernel;

import static dev.tern.internal.memory.Memory.ALL;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * {@link TileKernel} without vectors: serves where the Vector API is absent and until the vector
 * kernel is compiled. Blocks of 2 x 4 elements keep eight sums in registers.
 */
final class ScalarTile implements TileKernel {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final long LIMIT = 1L << 60;
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
      long a, long aStep, long b, long bStep, long start, long startRow, long c, long cRow, int k) {
    blocks(a, 4, aStep, b, bStep, start, startRow, c, cRow, k);
  }

  @Override
  public void rows(
      long a, long aRow, long b, long bStep, long start, long startRow, long c, long cRow, int k) {
    blocks(a, aRow, 4, b, bStep, start, startRow, c, cRow, k);
  }

  private void blocks(
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
            aStep,
            b + 4L * j,
            bStep,
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
    long next = start + startRow;
    float s00 = Memory.getFloat(start);
    float s01 = Memory.getFloat(start + 4);
    float s02 = Memory.getFloat(start + 8);
    float s03 = Memory.getFloat(start + 12);
    float s10 = Memory.getFloat(next);
    float s11 = Memory.getFloat(next + 4);
    float s12 = Memory.getFloat(next + 8);
    float s13 = Memory.getFloat(next + 12);
    long nextA = a;
    long nextB = b;
    for (int p = 0; p < k; p++) {
      long y = Objects.checkIndex(nextB, LIMIT);
      float b0 = ALL.get(FLOAT, y);
      float b1 = ALL.get(FLOAT, y + 4);
      float b2 = ALL.get(FLOAT, y + 8);
      float b3 = ALL.get(FLOAT, y + 12);
      float v = ALL.get(FLOAT, nextA);
      s00 = Math.fma(v, b0, s00);
      s01 = Math.fma(v, b1, s01);
      s02 = Math.fma(v, b2, s02);
      s03 = Math.fma(v, b3, s03);
      v = ALL.get(FLOAT, nextA + aRow);
      s10 = Math.fma(v, b0, s10);
      s11 = Math.fma(v, b1, s11);
      s12 = Math.fma(v, b2, s12);
      s13 = Math.fma(v, b3, s13);
      nextA += aStep;
      nextB += bStep;
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
  public void combine(long x, long rows, long rowStep, long y, int count, int k) {
    combineFrom(0, x, rows, rowStep, y, count, k);
  }

  /** {@link #combine} for the sums from {@code first} on. */
  static void combineFrom(int first, long x, long rows, long rowStep, long y, int count, int k) {
    for (int p = 0; p < k; p++) {
      float factor = Memory.getFloat(x + 4L * p);
      long row = Objects.checkIndex(rows + p * rowStep, LIMIT);
      long sums = Objects.checkIndex(y, LIMIT);
      for (int j = first; j < count; j++) {
        float sum = ALL.get(FLOAT, sums + 4L * j);
        ALL.set(FLOAT, sums + 4L * j, Math.fma(factor, ALL.get(FLOAT, row + 4L * j), sum));
      }
    }
  }

  @Override
  public void dots(long rows, long rowStep, long x, long y, long yStep, int count, int k) {
    dotsFrom(0, rows, rowStep, x, y, yStep, count, k);
  }

  /** {@link #dots} for the rows from {@code first} on: eight at a time hide the latency. */
  static void dotsFrom(
      int first, long rows, long rowStep, long x, long y, long yStep, int count, int k) {
    int i = first;
    for (; i + 8 <= count; i += 8) {
      eightDots(rows + i * rowStep, rowStep, x, y + i * yStep, yStep, k);
    }
    for (; i < count; i++) {
      long row = Objects.checkIndex(rows + i * rowStep, LIMIT);
      long factors = Objects.checkIndex(x, LIMIT);
      float sum = Memory.getFloat(y + i * yStep);
      for (int p = 0; p < k; p++) {
        sum = Math.fma(ALL.get(FLOAT, row + 4L * p), ALL.get(FLOAT, factors + 4L * p), sum);
      }
      Memory.setFloat(y + i * yStep, sum);
    }
  }

  private static void eightDots(long rows, long rowStep, long x, long y, long yStep, int k) {
    long r0 = Objects.checkIndex(rows, LIMIT);
    long r1 = Objects.checkIndex(rows + rowStep, LIMIT);
    long r2 = Objects.checkIndex(rows + 2 * rowStep, LIMIT);
    long r3 = Objects.checkIndex(rows + 3 * rowStep, LIMIT);
    long r4 = Objects.checkIndex(rows + 4 * rowStep, LIMIT);
    long r5 = Objects.checkIndex(rows + 5 * rowStep, LIMIT);
    long r6 = Objects.checkIndex(rows + 6 * rowStep, LIMIT);
    long r7 = Objects.checkIndex(rows + 7 * rowStep, LIMIT);
    long factors = Objects.checkIndex(x, LIMIT);
    float s0 = Memory.getFloat(y);
    float s1 = Memory.getFloat(y + yStep);
    float s2 = Memory.getFloat(y + 2 * yStep);
    float s3 = Memory.getFloat(y + 3 * yStep);
    float s4 = Memory.getFloat(y + 4 * yStep);
    float s5 = Memory.getFloat(y + 5 * yStep);
    float s6 = Memory.getFloat(y + 6 * yStep);
    float s7 = Memory.getFloat(y + 7 * yStep);
    for (int p = 0; p < k; p++) {
      float factor = ALL.get(FLOAT, factors + 4L * p);
      s0 = Math.fma(ALL.get(FLOAT, r0 + 4L * p), factor, s0);
      s1 = Math.fma(ALL.get(FLOAT, r1 + 4L * p), factor, s1);
      s2 = Math.fma(ALL.get(FLOAT, r2 + 4L * p), factor, s2);
      s3 = Math.fma(ALL.get(FLOAT, r3 + 4L * p), factor, s3);
      s4 = Math.fma(ALL.get(FLOAT, r4 + 4L * p), factor, s4);
      s5 = Math.fma(ALL.get(FLOAT, r5 + 4L * p), factor, s5);
      s6 = Math.fma(ALL.get(FLOAT, r6 + 4L * p), factor, s6);
      s7 = Math.fma(ALL.get(FLOAT, r7 + 4L * p), factor, s7);
    }
    Memory.setFloat(y, s0);
    Memory.setFloat(y + yStep, s1);
    Memory.setFloat(y + 2 * yStep, s2);
    Memory.setFloat(y + 3 * yStep, s3);
    Memory.setFloat(y + 4 * yStep, s4);
    Memory.setFloat(y + 5 * yStep, s5);
    Memory.setFloat(y + 6 * yStep, s6);
    Memory.setFloat(y + 7 * yStep, s7);
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
