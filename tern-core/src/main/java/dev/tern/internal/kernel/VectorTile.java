package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link TileKernel} of 6 rows by 2 vectors: 12 accumulators, which is enough to hide the latency
 * of two fused multiply-adds a cycle, fits 16 vector registers, and is small enough for C1.
 *
 * <p>How it works: the loop's addresses are slices of the address space whose length is a constant
 * above any offset that the loop can form (an int counter times a stride masked below 2^20), so the
 * compiler proves the bounds tests away. A number of A is broadcast as an int, which is one
 * instruction from memory. The six rows of A are six slices: with them the body is too large to be
 * unrolled, and the unrolled form spills.
 */
final class VectorTile implements TileKernel {
  private static final VectorSpecies<Float> FLOATS = Vectors.SPECIES;
  private static final VectorSpecies<Integer> INTS =
      VectorSpecies.of(int.class, FLOATS.vectorShape());
  private static final int LENGTH = FLOATS.length();
  private static final int BYTES = 4 * LENGTH;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final long REACH = 1L << 52;

  @Override
  public int columns() {
    return 2 * LENGTH;
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
    product(a, aRow, aStep, b, bStep, start, startRow, c, cRow, k);
  }

  private static void product(
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
    MemorySegment a2 = Memory.ALL.asSlice(a + 2 * aRow, REACH);
    MemorySegment a3 = Memory.ALL.asSlice(a + 3 * aRow, REACH);
    MemorySegment a4 = Memory.ALL.asSlice(a + 4 * aRow, REACH);
    MemorySegment a5 = Memory.ALL.asSlice(a + 5 * aRow, REACH);
    MemorySegment panel = Memory.ALL.asSlice(b, REACH);
    MemorySegment all = Memory.ALL;
    long t = start;
    FloatVector s00 = FloatVector.fromMemorySegment(FLOATS, all, t, ORDER);
    FloatVector s01 = FloatVector.fromMemorySegment(FLOATS, all, t + BYTES, ORDER);
    t += startRow;
    FloatVector s10 = FloatVector.fromMemorySegment(FLOATS, all, t, ORDER);
    FloatVector s11 = FloatVector.fromMemorySegment(FLOATS, all, t + BYTES, ORDER);
    t += startRow;
    FloatVector s20 = FloatVector.fromMemorySegment(FLOATS, all, t, ORDER);
    FloatVector s21 = FloatVector.fromMemorySegment(FLOATS, all, t + BYTES, ORDER);
    t += startRow;
    FloatVector s30 = FloatVector.fromMemorySegment(FLOATS, all, t, ORDER);
    FloatVector s31 = FloatVector.fromMemorySegment(FLOATS, all, t + BYTES, ORDER);
    t += startRow;
    FloatVector s40 = FloatVector.fromMemorySegment(FLOATS, all, t, ORDER);
    FloatVector s41 = FloatVector.fromMemorySegment(FLOATS, all, t + BYTES, ORDER);
    t += startRow;
    FloatVector s50 = FloatVector.fromMemorySegment(FLOATS, all, t, ORDER);
    FloatVector s51 = FloatVector.fromMemorySegment(FLOATS, all, t + BYTES, ORDER);
    long aMasked = aStep & (STRIDE_LIMIT - 1);
    long bMasked = bStep & (STRIDE_LIMIT - 1);
    for (int p = 0; p < k; p++) {
      long x = p * aMasked;
      long y = p * bMasked;
      FloatVector b0 = FloatVector.fromMemorySegment(FLOATS, panel, y, ORDER);
      FloatVector b1 = FloatVector.fromMemorySegment(FLOATS, panel, y + BYTES, ORDER);
      FloatVector v = IntVector.broadcast(INTS, a0.get(INT, x)).reinterpretAsFloats();
      s00 = v.fma(b0, s00);
      s01 = v.fma(b1, s01);
      v = IntVector.broadcast(INTS, a1.get(INT, x)).reinterpretAsFloats();
      s10 = v.fma(b0, s10);
      s11 = v.fma(b1, s11);
      v = IntVector.broadcast(INTS, a2.get(INT, x)).reinterpretAsFloats();
      s20 = v.fma(b0, s20);
      s21 = v.fma(b1, s21);
      v = IntVector.broadcast(INTS, a3.get(INT, x)).reinterpretAsFloats();
      s30 = v.fma(b0, s30);
      s31 = v.fma(b1, s31);
      v = IntVector.broadcast(INTS, a4.get(INT, x)).reinterpretAsFloats();
      s40 = v.fma(b0, s40);
      s41 = v.fma(b1, s41);
      v = IntVector.broadcast(INTS, a5.get(INT, x)).reinterpretAsFloats();
      s50 = v.fma(b0, s50);
      s51 = v.fma(b1, s51);
    }
    t = c;
    s00.intoMemorySegment(all, t, ORDER);
    s01.intoMemorySegment(all, t + BYTES, ORDER);
    t += cRow;
    s10.intoMemorySegment(all, t, ORDER);
    s11.intoMemorySegment(all, t + BYTES, ORDER);
    t += cRow;
    s20.intoMemorySegment(all, t, ORDER);
    s21.intoMemorySegment(all, t + BYTES, ORDER);
    t += cRow;
    s30.intoMemorySegment(all, t, ORDER);
    s31.intoMemorySegment(all, t + BYTES, ORDER);
    t += cRow;
    s40.intoMemorySegment(all, t, ORDER);
    s41.intoMemorySegment(all, t + BYTES, ORDER);
    t += cRow;
    s50.intoMemorySegment(all, t, ORDER);
    s51.intoMemorySegment(all, t + BYTES, ORDER);
  }

  @Override
  public void copy(long from, long fromRow, long to, long toRow, int rows, int columns) {
    int whole = FLOATS.loopBound(columns);
    for (int i = 0; i < rows; i++) {
      long source = from + i * fromRow;
      long target = to + i * toRow;
      for (int j = 0; j < whole; j += LENGTH) {
        store(load(Memory.ALL, source + 4L * j), target + 4L * j);
      }
      for (int j = whole; j < columns; j++) {
        Memory.setFloat(target + 4L * j, Memory.getFloat(source + 4L * j));
      }
    }
  }

  private static FloatVector load(MemorySegment from, long offset) {
    return FloatVector.fromMemorySegment(FLOATS, from, offset, ORDER);
  }

  private static void store(FloatVector vector, long address) {
    vector.intoMemorySegment(Memory.ALL, address, ORDER);
  }
}
