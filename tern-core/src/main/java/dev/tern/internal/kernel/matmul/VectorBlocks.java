package dev.tern.internal.kernel.matmul;

import static dev.tern.internal.memory.Memory.ALL;

import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorShuffle;
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

  // Classes of vectors, which C2 must know at once: see VectorTile.
  private static final Class<?> TYPE = FLOATS.vectorType();
  private static final Class<?> TYPE_OF_EIGHT = EIGHT.vectorType();

  // For interleave, which takes two floats as one number, a pair. LOW repeats each number of the
  // first half of a vector, HIGH each number of the second half: lane i is number i / 2 of its
  // half.
  // START, MIDDLE and END give three vectors in sequence: lane i of all their lanes is pair i / 3,
  // and the masks take it from the first, second or third operand as i % 3 is 0, 1 or 2.
  private static final VectorSpecies<Double> PAIRS = FLOATS.withLanes(double.class);
  private static final Class<?> TYPE_OF_PAIRS = PAIRS.vectorType();
  private static final VectorShuffle<Float> LOW = VectorShuffle.fromOp(FLOATS, i -> i / 2);
  private static final VectorShuffle<Float> HIGH =
      VectorShuffle.fromOp(FLOATS, i -> (LENGTH + i) / 2);
  private static final VectorMask<Float> ODD_LANES =
      VectorMask.fromLong(FLOATS, 0xAAAA_AAAA_AAAA_AAAAL);
  private static final VectorShuffle<Double> START = thirds(0);
  private static final VectorShuffle<Double> MIDDLE = thirds(1);
  private static final VectorShuffle<Double> END = thirds(2);
  private static final VectorMask<Double> START_B = lanes(0, 1);
  private static final VectorMask<Double> START_C = lanes(0, 2);
  private static final VectorMask<Double> MIDDLE_B = lanes(1, 1);
  private static final VectorMask<Double> MIDDLE_C = lanes(1, 2);
  private static final VectorMask<Double> END_B = lanes(2, 1);
  private static final VectorMask<Double> END_C = lanes(2, 2);

  private static VectorShuffle<Double> thirds(int vector) {
    return VectorShuffle.fromOp(PAIRS, i -> (vector * PAIRS.length() + i) / 3);
  }

  private static VectorMask<Double> lanes(int vector, int operand) {
    boolean[] taken = new boolean[PAIRS.length()];
    for (int i = 0; i < taken.length; i++) {
      taken[i] = (vector * taken.length + i) % 3 == operand;
    }
    return VectorMask.fromArray(PAIRS, taken, 0);
  }

  private static FloatVector load(long address) {
    return (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, address, ORDER));
  }

  private static FloatVector eight(long address) {
    return (FloatVector)
        TYPE_OF_EIGHT.cast(FloatVector.fromMemorySegment(EIGHT, ALL, address, ORDER));
  }

  private static FloatVector broadcast(float value) {
    return (FloatVector) TYPE.cast(FloatVector.broadcast(FLOATS, value));
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
      long skip = 4L * whole;
      ScalarTile.combination(x, rows + skip, rowStep, y + skip, count - whole, k);
    }
  }

  private static void combineFour(long x, long rows, long rowStep, long y, int whole) {
    if (whole < 0) {
      return;
    }
    FloatVector x0 = broadcast(Memory.getFloat(x));
    FloatVector x1 = broadcast(Memory.getFloat(x + 4));
    FloatVector x2 = broadcast(Memory.getFloat(x + 8));
    FloatVector x3 = broadcast(Memory.getFloat(x + 12));
    long r0 = Objects.checkIndex(rows, LIMIT);
    long r1 = Objects.checkIndex(rows + rowStep, LIMIT);
    long r2 = Objects.checkIndex(rows + 2 * rowStep, LIMIT);
    long r3 = Objects.checkIndex(rows + 3 * rowStep, LIMIT);
    long sums = Objects.checkIndex(y, LIMIT);
    for (int j = 0; j < whole; j += LENGTH) {
      long at = 4L * j;
      FloatVector sum = load(sums + at);
      sum = x0.fma(load(r0 + at), sum);
      sum = x1.fma(load(r1 + at), sum);
      sum = x2.fma(load(r2 + at), sum);
      sum = x3.fma(load(r3 + at), sum);
      sum.intoMemorySegment(ALL, sums + at, ORDER);
    }
  }

  private static void combineOne(long x, long row, long y, int whole) {
    if (whole < 0) {
      return;
    }
    FloatVector factor = broadcast(Memory.getFloat(x));
    long terms = Objects.checkIndex(row, LIMIT);
    long sums = Objects.checkIndex(y, LIMIT);
    for (int j = 0; j < whole; j += LENGTH) {
      long at = 4L * j;
      FloatVector sum = load(sums + at);
      sum = factor.fma(load(terms + at), sum);
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
    FloatVector factor = broadcast(Memory.getFloat(x));
    FloatVector zero = broadcast(0);
    long terms = Objects.checkIndex(y, LIMIT);
    long results = Objects.checkIndex(c, LIMIT);
    for (int j = 0; j < whole; j += LENGTH) {
      long at = 4L * j;
      factor.fma(load(terms + at), zero).intoMemorySegment(ALL, results + at, ORDER);
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
      eight(first + x).intoMemorySegment(ALL, y, ORDER);
      eight(second + x).intoMemorySegment(ALL, y + STRIP, ORDER);
      eight(third + x).intoMemorySegment(ALL, y + 2 * STRIP, ORDER);
      eight(fourth + x).intoMemorySegment(ALL, y + 3 * STRIP, ORDER);
      target += groupBytes;
      at += STRIP;
    }
  }

  /**
   * Pairs neighbouring rows: numbers p of rows 0 and 1 become one number of twice the size. Then
   * the three vectors of pairs are interleaved, which gives three vectors of the strip. It is one
   * method without helpers: past 18,000 nodes C2 inlines none, see {@link VectorTile}.
   */
  @Override
  public void interleave(long from, long line, int count, long to) {
    if (count < 0) {
      return;
    }
    long first = Objects.checkIndex(from, LIMIT);
    long second = Objects.checkIndex(from + line, LIMIT);
    long third = Objects.checkIndex(from + 2 * line, LIMIT);
    long fourth = Objects.checkIndex(from + 3 * line, LIMIT);
    long fifth = Objects.checkIndex(from + 4 * line, LIMIT);
    long sixth = Objects.checkIndex(from + 5 * line, LIMIT);
    long target = Objects.checkIndex(to, LIMIT);
    int whole = LENGTH < EIGHT.length() ? 0 : FLOATS.loopBound(count);
    for (int p = 0; p < whole; p += LENGTH) {
      long at = 4L * p;
      FloatVector a =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, first + at, ORDER));
      FloatVector b =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, second + at, ORDER));
      FloatVector c =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, third + at, ORDER));
      FloatVector d =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, fourth + at, ORDER));
      FloatVector e =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, fifth + at, ORDER));
      FloatVector f =
          (FloatVector) TYPE.cast(FloatVector.fromMemorySegment(FLOATS, ALL, sixth + at, ORDER));
      long y = target + STRIP * p;
      DoubleVector u =
          (DoubleVector)
              TYPE_OF_PAIRS.cast(
                  a.rearrange(LOW).blend(b.rearrange(LOW), ODD_LANES).reinterpretAsDoubles());
      DoubleVector v =
          (DoubleVector)
              TYPE_OF_PAIRS.cast(
                  c.rearrange(LOW).blend(d.rearrange(LOW), ODD_LANES).reinterpretAsDoubles());
      DoubleVector w =
          (DoubleVector)
              TYPE_OF_PAIRS.cast(
                  e.rearrange(LOW).blend(f.rearrange(LOW), ODD_LANES).reinterpretAsDoubles());
      ((FloatVector)
              TYPE.cast(
                  u.rearrange(START)
                      .blend(v.rearrange(START), START_B)
                      .blend(w.rearrange(START), START_C)
                      .reinterpretAsFloats()))
          .intoMemorySegment(ALL, y, ORDER);
      ((FloatVector)
              TYPE.cast(
                  u.rearrange(MIDDLE)
                      .blend(v.rearrange(MIDDLE), MIDDLE_B)
                      .blend(w.rearrange(MIDDLE), MIDDLE_C)
                      .reinterpretAsFloats()))
          .intoMemorySegment(ALL, y + BYTES, ORDER);
      ((FloatVector)
              TYPE.cast(
                  u.rearrange(END)
                      .blend(v.rearrange(END), END_B)
                      .blend(w.rearrange(END), END_C)
                      .reinterpretAsFloats()))
          .intoMemorySegment(ALL, y + 2L * BYTES, ORDER);
      u =
          (DoubleVector)
              TYPE_OF_PAIRS.cast(
                  a.rearrange(HIGH).blend(b.rearrange(HIGH), ODD_LANES).reinterpretAsDoubles());
      v =
          (DoubleVector)
              TYPE_OF_PAIRS.cast(
                  c.rearrange(HIGH).blend(d.rearrange(HIGH), ODD_LANES).reinterpretAsDoubles());
      w =
          (DoubleVector)
              TYPE_OF_PAIRS.cast(
                  e.rearrange(HIGH).blend(f.rearrange(HIGH), ODD_LANES).reinterpretAsDoubles());
      ((FloatVector)
              TYPE.cast(
                  u.rearrange(START)
                      .blend(v.rearrange(START), START_B)
                      .blend(w.rearrange(START), START_C)
                      .reinterpretAsFloats()))
          .intoMemorySegment(ALL, y + 3L * BYTES, ORDER);
      ((FloatVector)
              TYPE.cast(
                  u.rearrange(MIDDLE)
                      .blend(v.rearrange(MIDDLE), MIDDLE_B)
                      .blend(w.rearrange(MIDDLE), MIDDLE_C)
                      .reinterpretAsFloats()))
          .intoMemorySegment(ALL, y + 4L * BYTES, ORDER);
      ((FloatVector)
              TYPE.cast(
                  u.rearrange(END)
                      .blend(v.rearrange(END), END_B)
                      .blend(w.rearrange(END), END_C)
                      .reinterpretAsFloats()))
          .intoMemorySegment(ALL, y + 5L * BYTES, ORDER);
    }
    if (whole < count) {
      Packing.interleaveSix(from + 4L * whole, line, count - whole, to + STRIP * whole);
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
        load(source + 4L * j).intoMemorySegment(ALL, target + 4L * j, ORDER);
      }
      int j = whole;
      if (j + 8 <= columns) {
        eight(source + 4L * j).intoMemorySegment(ALL, target + 4L * j, ORDER);
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
      load(first + x).intoMemorySegment(ALL, y, ORDER);
      load(first + x + BYTES).intoMemorySegment(ALL, y + BYTES, ORDER);
      load(second + x).intoMemorySegment(ALL, y + 2 * BYTES, ORDER);
      load(second + x + BYTES).intoMemorySegment(ALL, y + 3 * BYTES, ORDER);
      load(third + x).intoMemorySegment(ALL, y + 4 * BYTES, ORDER);
      load(third + x + BYTES).intoMemorySegment(ALL, y + 5 * BYTES, ORDER);
      load(fourth + x).intoMemorySegment(ALL, y + 6 * BYTES, ORDER);
      load(fourth + x + BYTES).intoMemorySegment(ALL, y + 7 * BYTES, ORDER);
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
      FloatVector low = load(x);
      FloatVector high = load(x + BYTES);
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
