package dev.tern.internal.kernel;

import static dev.tern.internal.memory.Memory.ALL;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link PackedTile} on the Vector API, written as {@link VectorTile} is: a quarter faster with two
 * terms a turn. Three are too many for C1, which runs out of registers.
 *
 * <p>Two terms are more than 18,000 nodes: see {@link VectorTile}. What C2 meets past them it
 * leaves for a later pass, which inlines all, so only the read that it is in the middle of at
 * 18,000 would stay a call. That is why the first term reads its last two numbers before it uses
 * either: the limit lies among the multiply-adds that follow. The four numbers before are broadcast
 * as ints, the same instruction for 400 nodes more, which centres it.
 *
 * <p>The lengths of a turn are arguments, for a compiler that knows them would move the checks out
 * of the loop, and they would no longer keep order.
 */
final class VectorPackedTile implements PackedTile {
  private static final VectorSpecies<Float> FLOATS = Vectors.SPECIES;
  private static final VectorSpecies<Integer> INTS =
      VectorSpecies.of(int.class, FLOATS.vectorShape());
  private static final int BYTES = 4 * FLOATS.length();
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

  // See VectorTile.
  private static final long LIMIT = 1L << 60;
  private static final long LIMIT_2 = 1L << 59;
  private static final long LIMIT_4 = 1L << 58;
  private static final long LIMIT_8 = 1L << 57;

  @Override
  public void run(
      long a, long aTurn, long b, long bTurn, long start, long startRow, long c, long cRow, int k) {
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
    for (int p = 0; p < k; p += TURN) {
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
      y = Objects.checkIndex(y, LIMIT_2);
      v = FloatVector.broadcast(FLOATS, ALL.get(FLOAT, x + 16));
      FloatVector w = FloatVector.broadcast(FLOATS, ALL.get(FLOAT, x + 20));
      s40 = v.fma(b0, s40);
      s41 = v.fma(b1, s41);
      s50 = w.fma(b0, s50);
      s51 = w.fma(b1, s51);
      y = Objects.checkIndex(y, LIMIT_4);
      b0 = FloatVector.fromMemorySegment(FLOATS, ALL, y + 2 * BYTES, ORDER);
      b1 = FloatVector.fromMemorySegment(FLOATS, ALL, y + 3 * BYTES, ORDER);
      v = FloatVector.broadcast(FLOATS, ALL.get(FLOAT, x + 24));
      s00 = v.fma(b0, s00);
      s01 = v.fma(b1, s01);
      v = FloatVector.broadcast(FLOATS, ALL.get(FLOAT, x + 28));
      s10 = v.fma(b0, s10);
      s11 = v.fma(b1, s11);
      x = Objects.checkIndex(x, LIMIT_4);
      v = FloatVector.broadcast(FLOATS, ALL.get(FLOAT, x + 32));
      s20 = v.fma(b0, s20);
      s21 = v.fma(b1, s21);
      v = FloatVector.broadcast(FLOATS, ALL.get(FLOAT, x + 36));
      s30 = v.fma(b0, s30);
      s31 = v.fma(b1, s31);
      x = Objects.checkIndex(x, LIMIT_8);
      v = FloatVector.broadcast(FLOATS, ALL.get(FLOAT, x + 40));
      s40 = v.fma(b0, s40);
      s41 = v.fma(b1, s41);
      v = FloatVector.broadcast(FLOATS, ALL.get(FLOAT, x + 44));
      s50 = v.fma(b0, s50);
      s51 = v.fma(b1, s51);
      nextA += aTurn;
      nextB += bTurn;
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
}
