package dev.tern.internal.kernel.matmul;

import static dev.tern.internal.memory.Memory.ALL;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * {@link TileKernel} without vectors, for processes without them and until the vector form is
 * compiled. It computes 2 x 4 elements at a time, whose eight sums stay in registers.
 */
final class ScalarTile implements TileLoops, PackedTile, BlockKernel, RowDots {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final long LIMIT = 1L << 60;
  private final int columns;

  /** For panels of {@code columns}, a multiple of 4. */
  ScalarTile(int columns) {
    this.columns = columns;
  }

  @Override
  public void tile(TileStrides strides, long a, long b, long c, int k) {
    for (int j = 0; j < columns; j += 4) {
      column(strides, a, b + 4L * j, c + 4L * j, k);
    }
  }

  @Override
  public void run(TileStrides strides, long a, long b, long c, int k) {
    tile(strides, a, b, c, k);
  }

  @Override
  public void rows(TileStrides strides, long a, long b, long c, int k) {
    tile(strides, a, b, c, k);
  }

  @Override
  public void narrow(TileStrides strides, long a, long b, long c, int k) {
    for (int j = 0; j < columns / 2; j += 4) {
      column(strides, a, b + 4L * j, c + 4L * j, k);
    }
  }

  /** Four columns of a tile. */
  private static void column(TileStrides strides, long a, long b, long c, int k) {
    for (int i = 0; i < ROWS; i += 2) {
      block(strides, a + i * strides.aRow, b, c + i * strides.cRow, k);
    }
  }

  private static void block(TileStrides strides, long a, long b, long c, int k) {
    long aRow = strides.aRow;
    long aStep = strides.aStep;
    long bStep = strides.bStep;
    long start = strides.start(c);
    long next = start + strides.startRow;
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
    long d = c + strides.cRow;
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
    combination(x, rows, rowStep, y, count, k);
  }

  /** {@link #combine}. */
  static void combination(long x, long rows, long rowStep, long y, int count, int k) {
    for (int p = 0; p < k; p++) {
      float factor = Memory.getFloat(x + 4L * p);
      long row = Objects.checkIndex(rows + p * rowStep, LIMIT);
      long sums = Objects.checkIndex(y, LIMIT);
      for (int j = 0; j < count; j++) {
        float sum = ALL.get(FLOAT, sums + 4L * j);
        ALL.set(FLOAT, sums + 4L * j, Math.fma(factor, ALL.get(FLOAT, row + 4L * j), sum));
      }
    }
  }

  @Override
  public void outer(Outer shape, long x, long y, long c, int rows) {
    for (int i = 0; i < rows; i++) {
      outerFrom(0, x + i * shape.xStep(), y, c + i * shape.cRow(), shape.columns());
    }
  }

  /** One row of {@link #outer} from column {@code first} on. */
  static void outerFrom(int first, long x, long y, long c, int columns) {
    float factor = Memory.getFloat(x);
    for (int j = first; j < columns; j++) {
      Memory.setFloat(c + 4L * j, Math.fma(factor, Memory.getFloat(y + 4L * j), 0f));
    }
  }

  @Override
  public void dots(Shape shape, long rows, long x, long y, int count) {
    for (int i = 0; i < count; i++) {
      long row = rows + i * shape.rowStep();
      store(shape, y + i * shape.yStep(), row, x, laneSum(row, x, shape.whole()));
    }
  }

  /** Adds the terms beyond whole blocks to the sum of the lanes, and stores it. */
  static void store(Shape shape, long at, long row, long x, float lanes) {
    float sum = rest(row, x, shape.whole(), shape.k(), lanes);
    Memory.setFloat(at, shape.accumulates() ? Memory.getFloat(at) + sum : sum);
  }

  /** Adds the terms from {@code from} on to {@code sum}, in order. */
  private static float rest(long row, long x, int from, int k, float sum) {
    float result = sum;
    for (int p = from; p < k; p++) {
      result = Math.fma(Memory.getFloat(row + 4L * p), Memory.getFloat(x + 4L * p), result);
    }
    return result;
  }

  /**
   * The sum of the first {@code whole} terms: 16 lanes, added as a tree with i and i + 8 first,
   * then lanes 4, 2 and 1 apart.
   */
  private static float laneSum(long row, long x, int whole) {
    return everySecondLane(row, x, whole) + everySecondLane(row + 4, x + 4, whole);
  }

  /** Every second lane: eight sums hide the latency of an addition, and fit into registers. */
  private static float everySecondLane(long row, long x, int whole) {
    long a = Objects.checkIndex(row, LIMIT);
    long b = Objects.checkIndex(x, LIMIT);
    float s0 = 0;
    float s2 = 0;
    float s4 = 0;
    float s6 = 0;
    float s8 = 0;
    float s10 = 0;
    float s12 = 0;
    float s14 = 0;
    for (int p = 0; p < whole; p += DOT_LANES) {
      long at = 4L * p;
      s0 = Math.fma(ALL.get(FLOAT, a + at), ALL.get(FLOAT, b + at), s0);
      s2 = Math.fma(ALL.get(FLOAT, a + at + 8), ALL.get(FLOAT, b + at + 8), s2);
      s4 = Math.fma(ALL.get(FLOAT, a + at + 16), ALL.get(FLOAT, b + at + 16), s4);
      s6 = Math.fma(ALL.get(FLOAT, a + at + 24), ALL.get(FLOAT, b + at + 24), s6);
      s8 = Math.fma(ALL.get(FLOAT, a + at + 32), ALL.get(FLOAT, b + at + 32), s8);
      s10 = Math.fma(ALL.get(FLOAT, a + at + 40), ALL.get(FLOAT, b + at + 40), s10);
      s12 = Math.fma(ALL.get(FLOAT, a + at + 48), ALL.get(FLOAT, b + at + 48), s12);
      s14 = Math.fma(ALL.get(FLOAT, a + at + 56), ALL.get(FLOAT, b + at + 56), s14);
    }
    return ((s0 + s8) + (s4 + s12)) + ((s2 + s10) + (s6 + s14));
  }

  @Override
  public void spread(long from, long step, int groups, long to, long groupBytes) {
    long piece = 4L * columns;
    for (int group = 0; group < groups; group++) {
      for (int row = 0; row < 4; row++) {
        Memory.copy(
            from + row * step + group * piece, to + group * groupBytes + row * piece, piece);
      }
    }
  }

  @Override
  public void spreadStrips(long from, long step, int groups, long to, long groupBytes) {
    Packing.spreadStrips(from, step, groups, to, groupBytes);
  }

  @Override
  public void interleave(long from, long line, int count, long to) {
    Packing.interleaveSix(from, line, count, to);
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
