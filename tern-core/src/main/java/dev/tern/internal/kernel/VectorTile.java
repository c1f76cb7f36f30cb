package dev.tern.internal.kernel;

import static dev.tern.internal.memory.Memory.ALL;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link TileKernel} on the Vector API: 6 rows by 2 vectors, whose 12 accumulators hide the latency
 * of two fused multiply-adds a cycle and, with two vectors of B and two numbers of A, just fill 16
 * vector registers.
 *
 * <p>How it works. The loop must keep its accumulators in registers, but a compiler free to order
 * the body hoists all loads to its top and then spills. {@code checkIndex} in the middle of the
 * body ends a basic block: what stands before it is computed before it, since the check's failure
 * would need those values. Each limit is below the one before, or the check would be dropped as
 * proven; an address passes them all. The first check also proves the address positive, so that
 * access to {@link Memory#ALL} needs no test of its own. A number of A is broadcast as an int: that
 * is one instruction from memory. Library calls stand in the open, not in methods of their own,
 * which would count against the limit of what may be inlined here.
 */
final class VectorTile implements TileKernel {
  private static final VectorSpecies<Float> FLOATS = Vectors.SPECIES;
  private static final VectorSpecies<Integer> INTS =
      VectorSpecies.of(int.class, FLOATS.vectorShape());
  private static final int LENGTH = FLOATS.length();
  private static final int BYTES = 4 * LENGTH;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final ValueLayout.OfLong PAIR = ValueLayout.JAVA_LONG_UNALIGNED;

  /** Above any address, and each a power of two below the one before. */
  private static final long LIMIT = 1L << 60;

  private static final long LIMIT_2 = 1L << 59;
  private static final long LIMIT_4 = 1L << 58;

  @Override
  public int columns() {
    return 2 * LENGTH;
  }

  @Override
  public void tile(
      long a, long aStep, long b, long bStep, long start, long startRow, long c, long cRow, int k) {
    long t = start;
    FloatVector s00 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s01 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t += startRow;
    FloatVector s10 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s11 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t += startRow;
    FloatVector s20 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s21 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t += startRow;
    FloatVector s30 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s31 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t += startRow;
    FloatVector s40 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s41 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t += startRow;
    FloatVector s50 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s51 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    long nextA = a;
    long nextB = b;
    for (int p = 0; p < k; p++) {
      long y = Objects.checkIndex(nextB, LIMIT);
      FloatVector b0 = FloatVector.fromMemorySegment(FLOATS, ALL, y, ORDER);
      FloatVector b1 = FloatVector.fromMemorySegment(FLOATS, ALL, y + BYTES, ORDER);
      long x = Objects.checkIndex(nextA, LIMIT);
      FloatVector v = IntVector.broadcast(INTS, ALL.get(INT, x)).reinterpretAsFloats();
      s00 = v.fma(b0, s00);
      s01 = v.fma(b1, s01);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + 4)).reinterpretAsFloats();
      s10 = v.fma(b0, s10);
      s11 = v.fma(b1, s11);
      x = Objects.checkIndex(x, LIMIT_2);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + 8)).reinterpretAsFloats();
      s20 = v.fma(b0, s20);
      s21 = v.fma(b1, s21);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + 12)).reinterpretAsFloats();
      s30 = v.fma(b0, s30);
      s31 = v.fma(b1, s31);
      x = Objects.checkIndex(x, LIMIT_4);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + 16)).reinterpretAsFloats();
      s40 = v.fma(b0, s40);
      s41 = v.fma(b1, s41);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + 20)).reinterpretAsFloats();
      s50 = v.fma(b0, s50);
      s51 = v.fma(b1, s51);
      nextA += aStep;
      nextB += bStep;
    }
    t = c;
    s00.intoMemorySegment(ALL, t, ORDER);
    s01.intoMemorySegment(ALL, t + BYTES, ORDER);
    t += cRow;
    s10.intoMemorySegment(ALL, t, ORDER);
    s11.intoMemorySegment(ALL, t + BYTES, ORDER);
    t += cRow;
    s20.intoMemorySegment(ALL, t, ORDER);
    s21.intoMemorySegment(ALL, t + BYTES, ORDER);
    t += cRow;
    s30.intoMemorySegment(ALL, t, ORDER);
    s31.intoMemorySegment(ALL, t + BYTES, ORDER);
    t += cRow;
    s40.intoMemorySegment(ALL, t, ORDER);
    s41.intoMemorySegment(ALL, t + BYTES, ORDER);
    t += cRow;
    s50.intoMemorySegment(ALL, t, ORDER);
    s51.intoMemorySegment(ALL, t + BYTES, ORDER);
  }

  @Override
  public void rows(
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
    long r1 = Objects.checkIndex(aRow, LIMIT_4);
    long r2 = Objects.checkIndex(2 * aRow, LIMIT_4);
    long r3 = Objects.checkIndex(3 * aRow, LIMIT_4);
    long r4 = Objects.checkIndex(4 * aRow, LIMIT_4);
    long r5 = Objects.checkIndex(5 * aRow, LIMIT_4);
    long t = start;
    FloatVector s00 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s01 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t += startRow;
    FloatVector s10 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s11 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t += startRow;
    FloatVector s20 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s21 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t += startRow;
    FloatVector s30 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s31 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t += startRow;
    FloatVector s40 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s41 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t += startRow;
    FloatVector s50 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s51 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    long nextA = a;
    long nextB = b;
    for (int p = 0; p < k; p++) {
      long y = Objects.checkIndex(nextB, LIMIT);
      FloatVector b0 = FloatVector.fromMemorySegment(FLOATS, ALL, y, ORDER);
      FloatVector b1 = FloatVector.fromMemorySegment(FLOATS, ALL, y + BYTES, ORDER);
      long x = Objects.checkIndex(nextA, LIMIT);
      FloatVector v = IntVector.broadcast(INTS, ALL.get(INT, x)).reinterpretAsFloats();
      s00 = v.fma(b0, s00);
      s01 = v.fma(b1, s01);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r1)).reinterpretAsFloats();
      s10 = v.fma(b0, s10);
      s11 = v.fma(b1, s11);
      x = Objects.checkIndex(x, LIMIT_2);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r2)).reinterpretAsFloats();
      s20 = v.fma(b0, s20);
      s21 = v.fma(b1, s21);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r3)).reinterpretAsFloats();
      s30 = v.fma(b0, s30);
      s31 = v.fma(b1, s31);
      x = Objects.checkIndex(x, LIMIT_4);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r4)).reinterpretAsFloats();
      s40 = v.fma(b0, s40);
      s41 = v.fma(b1, s41);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r5)).reinterpretAsFloats();
      s50 = v.fma(b0, s50);
      s51 = v.fma(b1, s51);
      nextA += aStep;
      nextB += bStep;
    }
    t = c;
    s00.intoMemorySegment(ALL, t, ORDER);
    s01.intoMemorySegment(ALL, t + BYTES, ORDER);
    t += cRow;
    s10.intoMemorySegment(ALL, t, ORDER);
    s11.intoMemorySegment(ALL, t + BYTES, ORDER);
    t += cRow;
    s20.intoMemorySegment(ALL, t, ORDER);
    s21.intoMemorySegment(ALL, t + BYTES, ORDER);
    t += cRow;
    s30.intoMemorySegment(ALL, t, ORDER);
    s31.intoMemorySegment(ALL, t + BYTES, ORDER);
    t += cRow;
    s40.intoMemorySegment(ALL, t, ORDER);
    s41.intoMemorySegment(ALL, t + BYTES, ORDER);
    t += cRow;
    s50.intoMemorySegment(ALL, t, ORDER);
    s51.intoMemorySegment(ALL, t + BYTES, ORDER);
  }

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
      ScalarTile.combineFrom(whole, x, rows, rowStep, y, count, k);
    }
  }

  private static void combineFour(long x, long rows, long rowStep, long y, int whole) {
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
  public void dots(
      long rows, long rowStep, long x, long y, long yStep, int count, int k, boolean accumulate) {
    VectorDots.run(rows, rowStep, x, y, yStep, count, k, accumulate);
  }

  @Override
  public void copy(long from, long fromRow, long to, long toRow, int rows, int columns) {
    if (columns == 2 * LENGTH) {
      copyTwoVectors(from, fromRow, to, toRow, rows);
    } else if (columns == ROWS) {
      copySix(from, fromRow, to, toRow, rows);
    } else {
      copyAny(from, fromRow, to, toRow, rows, columns);
    }
  }

  @Override
  public void spread(long from, long step, int groups, long to, long groupBytes) {
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

  private static void copyAny(long from, long fromRow, long to, long toRow, int rows, int columns) {
    int whole = FLOATS.loopBound(columns);
    for (int i = 0; i < rows; i++) {
      long source = from + i * fromRow;
      long target = to + i * toRow;
      for (int j = 0; j < whole; j += LENGTH) {
        FloatVector.fromMemorySegment(FLOATS, ALL, source + 4L * j, ORDER)
            .intoMemorySegment(ALL, target + 4L * j, ORDER);
      }
      int j = whole;
      for (; j + 2 <= columns; j += 2) {
        Memory.setLong(target + 4L * j, Memory.getLong(source + 4L * j));
      }
      if (j < columns) {
        Memory.setInt(target + 4L * j, Memory.getInt(source + 4L * j));
      }
    }
  }
}
