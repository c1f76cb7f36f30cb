package dev.tern.internal.kernel.matmul;

import static dev.tern.internal.memory.Memory.ALL;

import dev.tern.internal.kernel.VectorSupport;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link PackedTile} on the Vector API, one long method for the reasons that {@link VectorTile}
 * gives. Two terms a turn make it a quarter faster than one.
 *
 * <p>With three terms, or a tenth more code than this, C1 would run out of registers and give the
 * method up, and C2 would never see it. So casts that change nothing are left out: where a vector
 * only begins a sum, and of sums between the terms of a turn.
 *
 * <p>Two terms are more than 18,000 nodes, see {@link VectorTile}. C2 leaves later calls to a pass
 * that inlines all of them. Only a read that it is parsing at 18,000 nodes would stay a call. So
 * the first term reads its last two numbers before it uses either, at 15,800 nodes; the next read
 * begins 3,000 nodes later. The profile moves these numbers by 300.
 *
 * <p>The bytes of a turn come from the strides. If they were constants, C2 would move the checks
 * out of the loop, where they no longer keep the order.
 */
final class VectorPackedTile implements PackedTile {
  private static final VectorSpecies<Float> FLOATS = VectorSupport.floatSpecies();
  private static final Class<?> TYPE = FLOATS.vectorType();
  private static final int BYTES = 4 * FLOATS.length();
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

  // See VectorTile.
  private static final long LIMIT = 1L << 60;
  private static final long LIMIT_2 = 1L << 59;
  private static final long LIMIT_4 = 1L << 58;
  private static final long LIMIT_8 = 1L << 57;

  @Override
  public void run(TileStrides strides, long a, long b, long c, int k) {
    if (k < 0) {
      return;
    }
    long aTurn = TURN * strides.aStep;
    long bTurn = TURN * strides.bStep;
    long cRow = strides.cRow;
    long startRow = strides.startRow;
    long t = Objects.checkIndex(strides.start(c), LIMIT);
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
      FloatVector b0 =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, y, ORDER));
      FloatVector b1 =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, y + BYTES, ORDER));
      long x = Objects.checkIndex(nextA, LIMIT);
      FloatVector v = b0.broadcast(ALL.get(FLOAT, x));
      s00 = v.fma(b0, (FloatVector) TYPE.cast(s00));
      s01 = v.fma(b1, (FloatVector) TYPE.cast(s01));
      v = b0.broadcast(ALL.get(FLOAT, x + 4));
      s10 = v.fma(b0, (FloatVector) TYPE.cast(s10));
      s11 = v.fma(b1, (FloatVector) TYPE.cast(s11));
      x = Objects.checkIndex(x, LIMIT_2);
      v = b0.broadcast(ALL.get(FLOAT, x + 8));
      s20 = v.fma(b0, (FloatVector) TYPE.cast(s20));
      s21 = v.fma(b1, (FloatVector) TYPE.cast(s21));
      v = b0.broadcast(ALL.get(FLOAT, x + 12));
      s30 = v.fma(b0, (FloatVector) TYPE.cast(s30));
      s31 = v.fma(b1, (FloatVector) TYPE.cast(s31));
      y = Objects.checkIndex(y, LIMIT_2);
      v = b0.broadcast(ALL.get(FLOAT, x + 16));
      FloatVector w = b0.broadcast(ALL.get(FLOAT, x + 20));
      s40 = v.fma(b0, (FloatVector) TYPE.cast(s40));
      s41 = v.fma(b1, (FloatVector) TYPE.cast(s41));
      s50 = w.fma(b0, (FloatVector) TYPE.cast(s50));
      s51 = w.fma(b1, (FloatVector) TYPE.cast(s51));
      y = Objects.checkIndex(y, LIMIT_4);
      b0 =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, y + 2 * BYTES, ORDER));
      b1 =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, y + 3 * BYTES, ORDER));
      v = b0.broadcast(ALL.get(FLOAT, x + 24));
      s00 = v.fma(b0, s00);
      s01 = v.fma(b1, s01);
      v = b0.broadcast(ALL.get(FLOAT, x + 28));
      s10 = v.fma(b0, s10);
      s11 = v.fma(b1, s11);
      x = Objects.checkIndex(x, LIMIT_4);
      v = b0.broadcast(ALL.get(FLOAT, x + 32));
      s20 = v.fma(b0, s20);
      s21 = v.fma(b1, s21);
      v = b0.broadcast(ALL.get(FLOAT, x + 36));
      s30 = v.fma(b0, s30);
      s31 = v.fma(b1, s31);
      x = Objects.checkIndex(x, LIMIT_8);
      v = b0.broadcast(ALL.get(FLOAT, x + 40));
      s40 = v.fma(b0, s40);
      s41 = v.fma(b1, s41);
      v = b0.broadcast(ALL.get(FLOAT, x + 44));
      s50 = v.fma(b0, s50);
      s51 = v.fma(b1, s51);
      nextA += aTurn;
      nextB += bTurn;
    }
    t = Objects.checkIndex(c, LIMIT);
    ((FloatVector) TYPE.cast(s00)).intoMemorySegment(ALL, t, ORDER);
    ((FloatVector) TYPE.cast(s01)).intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    ((FloatVector) TYPE.cast(s10)).intoMemorySegment(ALL, t, ORDER);
    ((FloatVector) TYPE.cast(s11)).intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    ((FloatVector) TYPE.cast(s20)).intoMemorySegment(ALL, t, ORDER);
    ((FloatVector) TYPE.cast(s21)).intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    ((FloatVector) TYPE.cast(s30)).intoMemorySegment(ALL, t, ORDER);
    ((FloatVector) TYPE.cast(s31)).intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    ((FloatVector) TYPE.cast(s40)).intoMemorySegment(ALL, t, ORDER);
    ((FloatVector) TYPE.cast(s41)).intoMemorySegment(ALL, t + BYTES, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    ((FloatVector) TYPE.cast(s50)).intoMemorySegment(ALL, t, ORDER);
    ((FloatVector) TYPE.cast(s51)).intoMemorySegment(ALL, t + BYTES, ORDER);
  }
}
