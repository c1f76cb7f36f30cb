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

  /** Above any address, and each a power of two below the one before. */
  private static final long LIMIT = 1L << 60;

  private static final long LIMIT_2 = 1L << 59;
  private static final long LIMIT_4 = 1L << 58;

  // Of this kernel alone: fresh code of it is of no use with calls of code that boxes.
  private final BlockKernel blocks = (BlockKernel) FreshCode.copyOf(VectorBlocks.class);
  private final RowDots dots = (RowDots) FreshCode.copyOf(VectorDots.class);

  @Override
  public int columns() {
    return 2 * LENGTH;
  }

  @Override
  public void tile(
      long a, long aStep, long b, long bStep, long start, long startRow, long c, long cRow, int k) {
    long t = Objects.checkIndex(start, LIMIT);
    FloatVector s00 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s01 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s10 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s11 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s20 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s21 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s30 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s31 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s40 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s41 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
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
    t = Objects.checkIndex(c, LIMIT);
    s00.intoMemorySegment(ALL, t, ORDER);
    s01.intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s10.intoMemorySegment(ALL, t, ORDER);
    s11.intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s20.intoMemorySegment(ALL, t, ORDER);
    s21.intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s30.intoMemorySegment(ALL, t, ORDER);
    s31.intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s40.intoMemorySegment(ALL, t, ORDER);
    s41.intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
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
    long t = Objects.checkIndex(start, LIMIT);
    FloatVector s00 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s01 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s10 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s11 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s20 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s21 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s30 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s31 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s40 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    FloatVector s41 = FloatVector.fromMemorySegment(FLOATS, ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
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
    t = Objects.checkIndex(c, LIMIT);
    s00.intoMemorySegment(ALL, t, ORDER);
    s01.intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s10.intoMemorySegment(ALL, t, ORDER);
    s11.intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s20.intoMemorySegment(ALL, t, ORDER);
    s21.intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s30.intoMemorySegment(ALL, t, ORDER);
    s31.intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s40.intoMemorySegment(ALL, t, ORDER);
    s41.intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s50.intoMemorySegment(ALL, t, ORDER);
    s51.intoMemorySegment(ALL, t + BYTES, ORDER);
  }

  @Override
  public void narrow(
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
    long t = Objects.checkIndex(start, LIMIT);
    FloatVector s0 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s1 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s2 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s3 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s4 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s5 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s6 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s7 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s8 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s9 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s10 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    t = Objects.checkIndex(t + startRow, LIMIT);
    FloatVector s11 = FloatVector.fromMemorySegment(FLOATS, ALL, t, ORDER);
    long nextA = a;
    long nextB = b;
    long further = ROWS * aRow;
    for (int p = 0; p < k; p++) {
      long y = Objects.checkIndex(nextB, LIMIT);
      FloatVector b0 = FloatVector.fromMemorySegment(FLOATS, ALL, y, ORDER);
      long x = Objects.checkIndex(nextA, LIMIT);
      FloatVector v = IntVector.broadcast(INTS, ALL.get(INT, x)).reinterpretAsFloats();
      s0 = v.fma(b0, s0);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r1)).reinterpretAsFloats();
      s1 = v.fma(b0, s1);
      x = Objects.checkIndex(x, LIMIT_2);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r2)).reinterpretAsFloats();
      s2 = v.fma(b0, s2);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r3)).reinterpretAsFloats();
      s3 = v.fma(b0, s3);
      x = Objects.checkIndex(x, LIMIT_4);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r4)).reinterpretAsFloats();
      s4 = v.fma(b0, s4);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r5)).reinterpretAsFloats();
      s5 = v.fma(b0, s5);
      x = Objects.checkIndex(nextA + further, LIMIT);
      v = IntVector.broadcast(INTS, ALL.get(INT, x)).reinterpretAsFloats();
      s6 = v.fma(b0, s6);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r1)).reinterpretAsFloats();
      s7 = v.fma(b0, s7);
      x = Objects.checkIndex(x, LIMIT_2);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r2)).reinterpretAsFloats();
      s8 = v.fma(b0, s8);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r3)).reinterpretAsFloats();
      s9 = v.fma(b0, s9);
      x = Objects.checkIndex(x, LIMIT_4);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r4)).reinterpretAsFloats();
      s10 = v.fma(b0, s10);
      v = IntVector.broadcast(INTS, ALL.get(INT, x + r5)).reinterpretAsFloats();
      s11 = v.fma(b0, s11);
      nextA += aStep;
      nextB += bStep;
    }
    t = Objects.checkIndex(c, LIMIT);
    s0.intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s1.intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s2.intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s3.intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s4.intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s5.intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s6.intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s7.intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s8.intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s9.intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s10.intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    s11.intoMemorySegment(ALL, t, ORDER);
  }

  @Override
  public void combine(long x, long rows, long rowStep, long y, int count, int k) {
    blocks.combine(x, rows, rowStep, y, count, k);
  }

  @Override
  public void outer(long x, long xStep, long y, long c, long cRow, int rows, int columns) {
    blocks.outer(x, xStep, y, c, cRow, rows, columns);
  }

  @Override
  public void dots(
      long rows, long rowStep, long x, long y, long yStep, int count, int k, boolean accumulate) {
    dots.dots(rows, rowStep, x, y, yStep, count, k, accumulate);
  }

  @Override
  public void copy(long from, long fromRow, long to, long toRow, int rows, int columns) {
    blocks.copy(from, fromRow, to, toRow, rows, columns);
  }

  @Override
  public void spread(long from, long step, int groups, long to, long groupBytes) {
    blocks.spread(from, step, groups, to, groupBytes);
  }

  @Override
  public void spreadStrips(long from, long step, int groups, long to, long groupBytes) {
    if (LENGTH < ROWS) {
      Packing.spreadStrips(from, step, groups, to, groupBytes);
    } else {
      blocks.spreadStrips(from, step, groups, to, groupBytes);
    }
  }
}
