package dev.tern.internal.kernel.matmul;

import static dev.tern.internal.memory.Memory.ALL;

import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link BlockKernel} on the Vector API; {@link VectorTile} says what {@code checkIndex} is for.
 */
final class VectorBlocks implements BlockKernel {
  private static final VectorSpecies<Float> FLOATS = VectorSupport.floatSpecies();
  private static final VectorSpecies<Float> EIGHT = FloatVector.SPECIES_256;
  private static final int LENGTH = FLOATS.length();
  private static final int BYTES = 4 * LENGTH;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final ValueLayout.OfLong PAIR = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final long LIMIT = 1L << 60;
  private static final long STRIP = 4L * TileLoops.ROWS;

  @Override
  public void combine(long x, long rows, long rowStep, long y, int count, int k) {
    int whole = FLOATS.loopBound(count);
    int p = 0;
    for (; p + 4 <= k; p += 4) {
      combineFour(x + 4L * p, rows + p * rowStep, rowStep, y, whole);
    }
    for (; p < k; p++) {
      combineOne(x + 4L * p, rows + p * rowStep, y, whole);
    }
    if (whole < count) {
      long skip = 4L * whole;
      ScalarTile.combination(x, rows + skip, rowStep, y + skip, count - whole, k);
    }
  }

  private static void combineFour(long x, long rows, long rowStep, long y, int whole) {
    if (whole < 0) {
      return;
    }
    FloatVector x0 = FloatVector.broadcast(FLOATS, Memory.getFloat(x));
    FloatVector x1 = FloatVector.broadcast(FLOATS, Memory.getFloat(x + 4));
    FloatVector x2 = FloatVector.broadcast(FLOATS, Memory.getFloat(x + 8));
    FloatVector x3 = FloatVector.broadcast(FLOATS, Memory.getFloat(x + 12));
    long r0 = Objects.checkIndex(rows, LIMIT);
    long r1 = Objects.checkIndex(rows + rowStep, LIMIT);
    long r2 = Objects.checkIndex(rows + 2 * rowStep, LIMIT);
    long r3 = Objects.checkIndex(rows + 3 * rowStep, LIMIT);
    long sums = Objects.checkIndex(y, LIMIT);
    for (int j = 0; j < whole; j += LENGTH) {
      long at = 4L * j;
      FloatVector sum = FloatVector.fromMemorySegment(FLOATS, ALL, sums + at, ORDER);
      sum = x0.fma(FloatVector.fromMemorySegment(FLOATS, ALL, r0 + at, ORDER), sum);
      sum = x1.fma(FloatVector.fromMemorySegment(FLOATS, ALL, r1 + at, ORDER), sum);
      sum = x2.fma(FloatVector.fromMemorySegment(FLOATS, ALL, r2 + at, ORDER), sum);
      sum = x3.fma(FloatVector.fromMemorySegment(FLOATS, ALL, r3 + at, ORDER), sum);
      sum.intoMemorySegment(ALL, sums + at, ORDER);
    }
  }

  private static void combineOne(long x, long row, long y, int whole) {
    if (whole < 0) {
      return;
    }
    FloatVector factor = FloatVector.broadcast(FLOATS, Memory.getFloat(x));
    long terms = Objects.checkIndex(row, LIMIT);
    long sums = Objects.checkIndex(y, LIMIT);
    for (int j = 0; j < whole; j += LENGTH) {
      long at = 4L * j;
      FloatVector sum = FloatVector.fromMemorySegment(FLOATS, ALL, sums + at, ORDER);
      sum = factor.fma(FloatVector.fromMemorySegment(FLOATS, ALL, terms + at, ORDER), sum);
      sum.intoMemorySegment(ALL, sums + at, ORDER);
    }
  }

  @Override
  public void outer(Outer shape, long x, long y, long c, int rows) {
    int whole = FLOATS.loopBound(shape.columns());
    for (int i = 0; i < rows; i++) {
      long factor = x + i * shape.xStep();
      long target = c + i * shape.cRow();
      outerRow(factor, y, target, whole);
      if (whole < shape.columns()) {
        ScalarTile.outerFrom(whole, factor, y, target, shape.columns());
      }
    }
  }

  private static void outerRow(long x, long y, long c, int whole) {
    if (whole < 0) {
      return;
    }
    FloatVector factor = FloatVector.broadcast(FLOATS, Memory.getFloat(x));
    FloatVector zero = FloatVector.zero(FLOATS);
    long terms = Objects.checkIndex(y, LIMIT);
    long results = Objects.checkIndex(c, LIMIT);
    for (int j = 0; j < whole; j += LENGTH) {
      long at = 4L * j;
      factor
          .fma(FloatVector.fromMemorySegment(FLOATS, ALL, terms + at, ORDER), zero)
          .intoMemorySegment(ALL, results + at, ORDER);
    }
  }

  /** Moves a piece as a vector of eight; the next piece overwrites the last two floats. */
  @Override
  public void spreadStrips(long from, long step, int groups, long to, long groupBytes) {
    if (groups < 0) {
      return;
    }
    if (LENGTH < EIGHT.length()) {
      Packing.spreadStrips(from, step, groups, to, groupBytes);
      return;
    }
    long first = Objects.checkIndex(from, LIMIT);
    long second = Objects.checkIndex(from + step, LIMIT);
    long third = Objects.checkIndex(from + 2 * step, LIMIT);
    long fourth = Objects.checkIndex(from + 3 * step, LIMIT);
    long target = to;
    long at = 0;
    for (int group = 0; group < groups; group++) {
      long x = Objects.checkIndex(at, LIMIT);
      long y = Objects.checkIndex(target, LIMIT);
      FloatVector.fromMemorySegment(EIGHT, ALL, first + x, ORDER).intoMemorySegment(ALL, y, ORDER);
      FloatVector.fromMemorySegment(EIGHT, ALL, second + x, ORDER)
          .intoMemorySegment(ALL, y + STRIP, ORDER);
      FloatVector.fromMemorySegment(EIGHT, ALL, third + x, ORDER)
          .intoMemorySegment(ALL, y + 2 * STRIP, ORDER);
      FloatVector.fromMemorySegment(EIGHT, ALL, fourth + x, ORDER)
          .intoMemorySegment(ALL, y + 3 * STRIP, ORDER);
      target += groupBytes;
      at += STRIP;
    }
  }

  @Override
  public void copy(long from, long fromRow, long to, long toRow, int rows, int columns) {
    if (columns == 2 * LENGTH) {
      copyTwoVectors(from, fromRow, to, toRow, rows);
      return;
    }
    if (columns == TileLoops.ROWS) {
      copySix(from, fromRow, to, toRow, rows);
      return;
    }
    if (rows < 0) {
      return;
    }
    int whole = FLOATS.loopBound(columns);
    for (int i = 0; i < rows; i++) {
      long source = from + i * fromRow;
      long target = to + i * toRow;
      for (int j = 0; j < whole; j += LENGTH) {
        FloatVector.fromMemorySegment(FLOATS, ALL, source + 4L * j, ORDER)
            .intoMemorySegment(ALL, target + 4L * j, ORDER);
      }
      int j = whole;
      if (j + 8 <= columns) {
        FloatVector.fromMemorySegment(EIGHT, ALL, source + 4L * j, ORDER)
            .intoMemorySegment(ALL, target + 4L * j, ORDER);
        j += 8;
      }
      for (; j + 2 <= columns; j += 2) {
        Memory.setLong(target + 4L * j, Memory.getLong(source + 4L * j));
      }
      if (j < columns) {
        Memory.setInt(target + 4L * j, Memory.getInt(source + 4L * j));
      }
    }
  }

  @Override
  public void spread(long from, long step, int groups, long to, long groupBytes) {
    if (groups < 0) {
      return;
    }
    long first = Objects.checkIndex(from, LIMIT);
    long second = Objects.checkIndex(from + step, LIMIT);
    long third = Objects.checkIndex(from + 2 * step, LIMIT);
    long fourth = Objects.checkIndex(from + 3 * step, LIMIT);
    long target = to;
    long at = 0;
    for (int group = 0; group < groups; group++) {
      long x = Objects.checkIndex(at, LIMIT);
      long y = Objects.checkIndex(target, LIMIT);
      FloatVector.fromMemorySegment(FLOATS, ALL, first + x, ORDER).intoMemorySegment(ALL, y, ORDER);
      FloatVector.fromMemorySegment(FLOATS, ALL, first + x + BYTES, ORDER)
          .intoMemorySegment(ALL, y + BYTES, ORDER);
      FloatVector.fromMemorySegment(FLOATS, ALL, second + x, ORDER)
          .intoMemorySegment(ALL, y + 2 * BYTES, ORDER);
      FloatVector.fromMemorySegment(FLOATS, ALL, second + x + BYTES, ORDER)
          .intoMemorySegment(ALL, y + 3 * BYTES, ORDER);
      FloatVector.fromMemorySegment(FLOATS, ALL, third + x, ORDER)
          .intoMemorySegment(ALL, y + 4 * BYTES, ORDER);
      FloatVector.fromMemorySegment(FLOATS, ALL, third + x + BYTES, ORDER)
          .intoMemorySegment(ALL, y + 5 * BYTES, ORDER);
      FloatVector.fromMemorySegment(FLOATS, ALL, fourth + x, ORDER)
          .intoMemorySegment(ALL, y + 6 * BYTES, ORDER);
      FloatVector.fromMemorySegment(FLOATS, ALL, fourth + x + BYTES, ORDER)
          .intoMemorySegment(ALL, y + 7 * BYTES, ORDER);
      target += groupBytes;
      at += 2 * BYTES;
    }
  }

  private static void copyTwoVectors(long from, long fromRow, long to, long toRow, int rows) {
    if (rows < 0) {
      return;
    }
    long source = from;
    long target = to;
    for (int i = 0; i < rows; i++) {
      long x = Objects.checkIndex(source, LIMIT);
      FloatVector low = FloatVector.fromMemorySegment(FLOATS, ALL, x, ORDER);
      FloatVector high = FloatVector.fromMemorySegment(FLOATS, ALL, x + BYTES, ORDER);
      long y = Objects.checkIndex(target, LIMIT);
      low.intoMemorySegment(ALL, y, ORDER);
      high.intoMemorySegment(ALL, y + BYTES, ORDER);
      source += fromRow;
      target += toRow;
    }
  }

  private static void copySix(long from, long fromRow, long to, long toRow, int rows) {
    long source = from;
    long target = to;
    for (int i = 0; i < rows; i++) {
      long x = Objects.checkIndex(source, LIMIT);
      long first = ALL.get(PAIR, x);
      long second = ALL.get(PAIR, x + 8);
      long third = ALL.get(PAIR, x + 16);
      long y = Objects.checkIndex(target, LIMIT);
      ALL.set(PAIR, y, first);
      ALL.set(PAIR, y + 8, second);
      ALL.set(PAIR, y + 16, third);
      source += fromRow;
      target += toRow;
    }
  }
}
