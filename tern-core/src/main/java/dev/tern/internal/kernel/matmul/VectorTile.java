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
 * {@link TileLoops} on the Vector API: 6 rows by 2 vectors. The 12 accumulators hide the latency of
 * two fused multiply-adds a cycle. With two vectors of B and two numbers of A they just fill 16
 * vector registers. Three traps of the JIT shape the code, and keep methods long:
 *
 * <p>Order. The accumulators must stay in registers, but C2 moves all loads to the top of the loop
 * and then spills, unless something stops it. {@code checkIndex} in the middle of the loop ends a
 * basic block: C2 first computes what stands before it, as a failed check would need these values.
 * Each limit is below the one before, or C2 would drop the check as proven; all addresses are below
 * all limits. The first check also proves that the address is positive, so that access to {@link
 * Memory#ALL} needs no test of its own.
 *
 * <p>Classes of vectors. C2 learns late which class a vector has that was loaded, broadcast from a
 * species, or carried around the loop. Until then it guesses the class that the JDK's methods saw
 * most in the process: vectors of 8 lanes, once embedding tables have computed on rows. Where
 * vectors here are longer, it compiles calls for 8 lanes, which fail each time, or leaves calls
 * with a vector object for each argument. Casts to {@link #TYPE} name the class at once, and cost
 * nothing once compiled. They stand at factors, at sums where a turn begins, and at stores. {@code
 * b0.broadcast} has the class of {@code b0}.
 *
 * <p>Warm-up. With fewer than no terms a method returns at once: see {@code Warmup.Round.ENTRY}.
 *
 * <p>Size. While C2 parses, a call costs some 500 nodes of its graph, a read of a number 600. Past
 * 18,000 nodes ({@code NodeCountInliningCutoff}) C2 inlines only methods that the JDK marks with
 * {@code @ForceInline}. The last step of a read is not marked, so it would stay a call in the loop,
 * with all sums on the stack around it. So each method reads its last number well before. A loop
 * and its sums stand in one method without helpers: calls of helpers would count as well, and sums
 * that go from one method to another would be boxed.
 */
final class VectorTile implements TileLoops {
  private static final VectorSpecies<Float> FLOATS = VectorSupport.floatSpecies();
  private static final Class<?> TYPE = FLOATS.vectorType();
  private static final int BYTES = 4 * FLOATS.length();
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

  // Above any address, and each a power of two below the one before.
  private static final long LIMIT = 1L << 60;
  private static final long LIMIT_2 = 1L << 59;
  private static final long LIMIT_4 = 1L << 58;

  @Override
  public void tile(TileStrides strides, long a, long b, long c, int k) {
    if (k < 0) {
      return;
    }
    long aStep = strides.aStep;
    long bStep = strides.bStep;
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
    for (int p = 0; p < k; p++) {
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
      x = Objects.checkIndex(x, LIMIT_4);
      v = b0.broadcast(ALL.get(FLOAT, x + 16));
      s40 = v.fma(b0, (FloatVector) TYPE.cast(s40));
      s41 = v.fma(b1, (FloatVector) TYPE.cast(s41));
      v = b0.broadcast(ALL.get(FLOAT, x + 20));
      s50 = v.fma(b0, (FloatVector) TYPE.cast(s50));
      s51 = v.fma(b1, (FloatVector) TYPE.cast(s51));
      nextA += aStep;
      nextB += bStep;
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

  @Override
  public void rows(TileStrides strides, long a, long b, long c, int k) {
    if (k < 0) {
      return;
    }
    long aRow = strides.aRow;
    long aStep = strides.aStep;
    long bStep = strides.bStep;
    long cRow = strides.cRow;
    long startRow = strides.startRow;
    long r1 = Objects.checkIndex(aRow, LIMIT_4);
    long r2 = Objects.checkIndex(2 * aRow, LIMIT_4);
    long r3 = Objects.checkIndex(3 * aRow, LIMIT_4);
    long r4 = Objects.checkIndex(4 * aRow, LIMIT_4);
    long r5 = Objects.checkIndex(5 * aRow, LIMIT_4);
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
    for (int p = 0; p < k; p++) {
      long y = Objects.checkIndex(nextB, LIMIT);
      FloatVector b0 =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, y, ORDER));
      FloatVector b1 =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, y + BYTES, ORDER));
      long x = Objects.checkIndex(nextA, LIMIT);
      FloatVector v = b0.broadcast(ALL.get(FLOAT, x));
      s00 = v.fma(b0, (FloatVector) TYPE.cast(s00));
      s01 = v.fma(b1, (FloatVector) TYPE.cast(s01));
      v = b0.broadcast(ALL.get(FLOAT, x + r1));
      s10 = v.fma(b0, (FloatVector) TYPE.cast(s10));
      s11 = v.fma(b1, (FloatVector) TYPE.cast(s11));
      x = Objects.checkIndex(x, LIMIT_2);
      v = b0.broadcast(ALL.get(FLOAT, x + r2));
      s20 = v.fma(b0, (FloatVector) TYPE.cast(s20));
      s21 = v.fma(b1, (FloatVector) TYPE.cast(s21));
      v = b0.broadcast(ALL.get(FLOAT, x + r3));
      s30 = v.fma(b0, (FloatVector) TYPE.cast(s30));
      s31 = v.fma(b1, (FloatVector) TYPE.cast(s31));
      x = Objects.checkIndex(x, LIMIT_4);
      v = b0.broadcast(ALL.get(FLOAT, x + r4));
      s40 = v.fma(b0, (FloatVector) TYPE.cast(s40));
      s41 = v.fma(b1, (FloatVector) TYPE.cast(s41));
      v = b0.broadcast(ALL.get(FLOAT, x + r5));
      s50 = v.fma(b0, (FloatVector) TYPE.cast(s50));
      s51 = v.fma(b1, (FloatVector) TYPE.cast(s51));
      nextA += aStep;
      nextB += bStep;
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

  @Override
  public void narrow(TileStrides strides, long a, long b, long c, int k) {
    if (k < 0) {
      return;
    }
    long aRow = strides.aRow;
    long aStep = strides.aStep;
    long bStep = strides.bStep;
    long cRow = strides.cRow;
    long startRow = strides.startRow;
    long r1 = Objects.checkIndex(aRow, LIMIT_4);
    long r2 = Objects.checkIndex(2 * aRow, LIMIT_4);
    long r3 = Objects.checkIndex(3 * aRow, LIMIT_4);
    long r4 = Objects.checkIndex(4 * aRow, LIMIT_4);
    long r5 = Objects.checkIndex(5 * aRow, LIMIT_4);
    long t = Objects.checkIndex(strides.start(c), LIMIT);
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
    long nextA = a;
    long nextB = b;
    for (int p = 0; p < k; p++) {
      long y = Objects.checkIndex(nextB, LIMIT);
      FloatVector f = (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, y, ORDER));
      long x = Objects.checkIndex(nextA, LIMIT);
      s0 = f.broadcast(ALL.get(FLOAT, x)).fma(f, (FloatVector) TYPE.cast(s0));
      s1 = f.broadcast(ALL.get(FLOAT, x + r1)).fma(f, (FloatVector) TYPE.cast(s1));
      s2 = f.broadcast(ALL.get(FLOAT, x + r2)).fma(f, (FloatVector) TYPE.cast(s2));
      s3 = f.broadcast(ALL.get(FLOAT, x + r3)).fma(f, (FloatVector) TYPE.cast(s3));
      s4 = f.broadcast(ALL.get(FLOAT, x + r4)).fma(f, (FloatVector) TYPE.cast(s4));
      s5 = f.broadcast(ALL.get(FLOAT, x + r5)).fma(f, (FloatVector) TYPE.cast(s5));
      nextA += aStep;
      nextB += bStep;
    }
    t = Objects.checkIndex(c, LIMIT);
    ((FloatVector) TYPE.cast(s0)).intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    ((FloatVector) TYPE.cast(s1)).intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    ((FloatVector) TYPE.cast(s2)).intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    ((FloatVector) TYPE.cast(s3)).intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    ((FloatVector) TYPE.cast(s4)).intoMemorySegment(ALL, t, ORDER);
    t = Objects.checkIndex(t + cRow, LIMIT);
    ((FloatVector) TYPE.cast(s5)).intoMemorySegment(ALL, t, ORDER);
  }
}
