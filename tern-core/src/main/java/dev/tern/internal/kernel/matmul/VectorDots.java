package dev.tern.internal.kernel.matmul;

import static dev.tern.internal.memory.Memory.ALL;

import dev.tern.internal.kernel.VectorSupport;
import java.nio.ByteOrder;
import java.util.Objects;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link RowDots} on the Vector API. The 16 sums of a row are one vector of 512 bits, two of 256 or
 * four of 128. Except with 128 bits, four rows share the loads of the vector, and their sums do not
 * wait for each other; where fewer rows are left, the last one is taken several times. {@link
 * VectorTile} says what {@code checkIndex} is for.
 */
final class VectorDots implements RowDots {
  private static final boolean WIDE = VectorSupport.lanes() >= 8;
  private static final boolean WIDEST = VectorSupport.lanes() >= 16;
  private static final VectorSpecies<Float> SIXTEEN = FloatVector.SPECIES_512;
  private static final VectorShuffle<Float> SIXTEEN_BY_8 =
      VectorShuffle.fromOp(SIXTEEN, i -> (i + 8) % 16);
  private static final VectorShuffle<Float> SIXTEEN_BY_4 =
      VectorShuffle.fromOp(SIXTEEN, i -> (i + 4) % 16);
  private static final VectorShuffle<Float> SIXTEEN_BY_2 =
      VectorShuffle.fromOp(SIXTEEN, i -> (i + 2) % 16);
  private static final VectorSpecies<Float> EIGHT = FloatVector.SPECIES_256;
  private static final VectorSpecies<Float> FOUR = FloatVector.SPECIES_128;
  private static final VectorShuffle<Float> EIGHT_BY_4 =
      VectorShuffle.fromOp(EIGHT, i -> (i + 4) % 8);
  private static final VectorShuffle<Float> EIGHT_BY_2 =
      VectorShuffle.fromOp(EIGHT, i -> (i + 2) % 8);
  private static final VectorShuffle<Float> FOUR_BY_2 =
      VectorShuffle.fromOp(FOUR, i -> (i + 2) % 4);
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final long LIMIT = 1L << 60;
  private static final int LANES = DOT_LANES;

  // Classes of vectors, which C2 must know at once: see VectorTile.
  private static final Class<?> TYPE_OF_SIXTEEN = SIXTEEN.vectorType();
  private static final Class<?> TYPE_OF_EIGHT = EIGHT.vectorType();
  private static final Class<?> TYPE_OF_FOUR = FOUR.vectorType();

  private static FloatVector eight(long address) {
    return (FloatVector)
        TYPE_OF_EIGHT.cast(FloatVector.fromMemorySegment(EIGHT, ALL, address, ORDER));
  }

  private static FloatVector sixteen(long address) {
    return (FloatVector)
        TYPE_OF_SIXTEEN.cast(FloatVector.fromMemorySegment(SIXTEEN, ALL, address, ORDER));
  }

  private static FloatVector four(long address) {
    return (FloatVector)
        TYPE_OF_FOUR.cast(FloatVector.fromMemorySegment(FOUR, ALL, address, ORDER));
  }

  @Override
  public void dots(Shape shape, long rows, long x, long y, int count) {
    for (int i = 0; WIDE && i < count; i += 4) {
      int last = Math.min(3, count - 1 - i);
      if (WIDEST) {
        bySixteen(shape, rows + i * shape.rowStep(), last, x, y + i * shape.yStep());
      } else {
        byEight(shape, rows + i * shape.rowStep(), last, x, y + i * shape.yStep());
      }
    }
    for (int i = 0; !WIDE && i < count; i++) {
      long row = rows + i * shape.rowStep();
      float lanes = narrow(row, x, shape.whole());
      ScalarTile.store(shape, y + i * shape.yStep(), row, x, lanes);
    }
  }

  /**
   * Rows 0 to {@code last}, which is at most 3. It must have more bytecode than C2 inlines, 325
   * bytes: inside the loop over rows C2 would box the sums.
   */
  private static void byEight(Shape shape, long rows, int last, long x, long y) {
    long rowStep = shape.rowStep();
    long yStep = shape.yStep();
    int whole = shape.whole();
    if (whole < 0) {
      return;
    }
    long r0 = Objects.checkIndex(rows, LIMIT);
    long r1 = Objects.checkIndex(rows + Math.min(1, last) * rowStep, LIMIT);
    long r2 = Objects.checkIndex(rows + Math.min(2, last) * rowStep, LIMIT);
    long r3 = Objects.checkIndex(rows + last * rowStep, LIMIT);
    long factors = Objects.checkIndex(x, LIMIT);
    FloatVector l0 = (FloatVector) TYPE_OF_EIGHT.cast(FloatVector.zero(EIGHT));
    FloatVector l1 = l0;
    FloatVector l2 = l0;
    FloatVector l3 = l0;
    FloatVector h0 = l0;
    FloatVector h1 = l0;
    FloatVector h2 = l0;
    FloatVector h3 = l0;
    for (int p = 0; p < whole; p += LANES) {
      long at = 4L * p;
      FloatVector f = eight(factors + at);
      FloatVector g = eight(factors + at + 32);
      l0 = f.fma(eight(r0 + at), (FloatVector) TYPE_OF_EIGHT.cast(l0));
      h0 = g.fma(eight(r0 + at + 32), (FloatVector) TYPE_OF_EIGHT.cast(h0));
      l1 = f.fma(eight(r1 + at), (FloatVector) TYPE_OF_EIGHT.cast(l1));
      h1 = g.fma(eight(r1 + at + 32), (FloatVector) TYPE_OF_EIGHT.cast(h1));
      l2 = f.fma(eight(r2 + at), (FloatVector) TYPE_OF_EIGHT.cast(l2));
      h2 = g.fma(eight(r2 + at + 32), (FloatVector) TYPE_OF_EIGHT.cast(h2));
      l3 = f.fma(eight(r3 + at), (FloatVector) TYPE_OF_EIGHT.cast(l3));
      h3 = g.fma(eight(r3 + at + 32), (FloatVector) TYPE_OF_EIGHT.cast(h3));
    }
    l0 = ((FloatVector) TYPE_OF_EIGHT.cast(l0)).add((FloatVector) TYPE_OF_EIGHT.cast(h0));
    l1 = ((FloatVector) TYPE_OF_EIGHT.cast(l1)).add((FloatVector) TYPE_OF_EIGHT.cast(h1));
    l2 = ((FloatVector) TYPE_OF_EIGHT.cast(l2)).add((FloatVector) TYPE_OF_EIGHT.cast(h2));
    l3 = ((FloatVector) TYPE_OF_EIGHT.cast(l3)).add((FloatVector) TYPE_OF_EIGHT.cast(h3));
    l0 = l0.add(l0.rearrange(EIGHT_BY_4));
    l1 = l1.add(l1.rearrange(EIGHT_BY_4));
    l2 = l2.add(l2.rearrange(EIGHT_BY_4));
    l3 = l3.add(l3.rearrange(EIGHT_BY_4));
    l0 = l0.add(l0.rearrange(EIGHT_BY_2));
    l1 = l1.add(l1.rearrange(EIGHT_BY_2));
    l2 = l2.add(l2.rearrange(EIGHT_BY_2));
    l3 = l3.add(l3.rearrange(EIGHT_BY_2));
    float s0 = l0.lane(0) + l0.lane(1);
    float s1 = l1.lane(0) + l1.lane(1);
    float s2 = l2.lane(0) + l2.lane(1);
    float s3 = l3.lane(0) + l3.lane(1);
    ScalarTile.store(shape, y, r0, x, s0);
    if (last >= 1) {
      ScalarTile.store(shape, y + yStep, r1, x, s1);
    }
    if (last >= 2) {
      ScalarTile.store(shape, y + 2 * yStep, r2, x, s2);
    }
    if (last >= 3) {
      ScalarTile.store(shape, y + 3 * yStep, r3, x, s3);
    }
  }

  /** {@link #byEight} with one vector for the sums of a row. */
  private static void bySixteen(Shape shape, long rows, int last, long x, long y) {
    long rowStep = shape.rowStep();
    long yStep = shape.yStep();
    int whole = shape.whole();
    if (whole < 0) {
      return;
    }
    long r0 = Objects.checkIndex(rows, LIMIT);
    long r1 = Objects.checkIndex(rows + Math.min(1, last) * rowStep, LIMIT);
    long r2 = Objects.checkIndex(rows + Math.min(2, last) * rowStep, LIMIT);
    long r3 = Objects.checkIndex(rows + last * rowStep, LIMIT);
    long factors = Objects.checkIndex(x, LIMIT);
    FloatVector l0 = (FloatVector) TYPE_OF_SIXTEEN.cast(FloatVector.zero(SIXTEEN));
    FloatVector l1 = l0;
    FloatVector l2 = l0;
    FloatVector l3 = l0;
    for (int p = 0; p < whole; p += LANES) {
      long at = 4L * p;
      FloatVector f = sixteen(factors + at);
      l0 = f.fma(sixteen(r0 + at), (FloatVector) TYPE_OF_SIXTEEN.cast(l0));
      l1 = f.fma(sixteen(r1 + at), (FloatVector) TYPE_OF_SIXTEEN.cast(l1));
      l2 = f.fma(sixteen(r2 + at), (FloatVector) TYPE_OF_SIXTEEN.cast(l2));
      l3 = f.fma(sixteen(r3 + at), (FloatVector) TYPE_OF_SIXTEEN.cast(l3));
    }
    l0 = (FloatVector) TYPE_OF_SIXTEEN.cast(l0);
    l0 = l0.add(l0.rearrange(SIXTEEN_BY_8));
    l1 = (FloatVector) TYPE_OF_SIXTEEN.cast(l1);
    l1 = l1.add(l1.rearrange(SIXTEEN_BY_8));
    l2 = (FloatVector) TYPE_OF_SIXTEEN.cast(l2);
    l2 = l2.add(l2.rearrange(SIXTEEN_BY_8));
    l3 = (FloatVector) TYPE_OF_SIXTEEN.cast(l3);
    l3 = l3.add(l3.rearrange(SIXTEEN_BY_8));
    l0 = l0.add(l0.rearrange(SIXTEEN_BY_4));
    l1 = l1.add(l1.rearrange(SIXTEEN_BY_4));
    l2 = l2.add(l2.rearrange(SIXTEEN_BY_4));
    l3 = l3.add(l3.rearrange(SIXTEEN_BY_4));
    l0 = l0.add(l0.rearrange(SIXTEEN_BY_2));
    l1 = l1.add(l1.rearrange(SIXTEEN_BY_2));
    l2 = l2.add(l2.rearrange(SIXTEEN_BY_2));
    l3 = l3.add(l3.rearrange(SIXTEEN_BY_2));
    float s0 = l0.lane(0) + l0.lane(1);
    float s1 = l1.lane(0) + l1.lane(1);
    float s2 = l2.lane(0) + l2.lane(1);
    float s3 = l3.lane(0) + l3.lane(1);
    ScalarTile.store(shape, y, r0, x, s0);
    if (last >= 1) {
      ScalarTile.store(shape, y + yStep, r1, x, s1);
    }
    if (last >= 2) {
      ScalarTile.store(shape, y + 2 * yStep, r2, x, s2);
    }
    if (last >= 3) {
      ScalarTile.store(shape, y + 3 * yStep, r3, x, s3);
    }
  }

  /** The sum of the lanes of one row, in vectors of four. */
  private static float narrow(long row, long x, int whole) {
    if (whole < 0) {
      return 0;
    }
    long r = Objects.checkIndex(row, LIMIT);
    long factors = Objects.checkIndex(x, LIMIT);
    FloatVector s0 = (FloatVector) TYPE_OF_FOUR.cast(FloatVector.zero(FOUR));
    FloatVector s4 = s0;
    FloatVector s8 = s0;
    FloatVector s12 = s0;
    for (int p = 0; p < whole; p += LANES) {
      long at = 4L * p;
      FloatVector f = four(factors + at);
      s0 = f.fma(four(r + at), (FloatVector) TYPE_OF_FOUR.cast(s0));
      f = four(factors + at + 16);
      s4 = f.fma(four(r + at + 16), (FloatVector) TYPE_OF_FOUR.cast(s4));
      f = four(factors + at + 32);
      s8 = f.fma(four(r + at + 32), (FloatVector) TYPE_OF_FOUR.cast(s8));
      f = four(factors + at + 48);
      s12 = f.fma(four(r + at + 48), (FloatVector) TYPE_OF_FOUR.cast(s12));
    }
    FloatVector sum = s0.add(s8).add(s4.add(s12));
    sum = sum.add(sum.rearrange(FOUR_BY_2));
    return sum.lane(0) + sum.lane(1);
  }
}
