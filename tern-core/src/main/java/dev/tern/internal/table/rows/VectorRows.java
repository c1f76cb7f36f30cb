package dev.tern.internal.table.rows;

import dev.tern.internal.kernel.HalfVectors;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.rows.RowEncoding.Form;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loops of {@link RowLoops} on {@link #LANES} columns from column {@code j} on: element for
 * element the operations of {@link ScalarRows}. Vectors have 8 lanes at most, so that short rows
 * fill them, and every method is small enough for the first compiler. Loaded only where the module
 * {@code jdk.incubator.vector} is present.
 *
 * <p>One loop serves all encodings and bags with and without weights. A table has one encoding, so
 * the compiler takes these tests out of the loop.
 */
final class VectorRows {
  private static final VectorSpecies<Float> FLOATS = HalfVectors.FLOATS;

  static final int LANES = FLOATS.length();
  private static final VectorSpecies<Integer> INTS = FLOATS.withLanes(int.class);

  /** The shortest species. Where only 4 of its 8 lanes are used, the row's scale follows them. */
  private static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_64;

  private static final Class<?> BYTES_TYPE = BYTES.vectorType();
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private VectorRows() {}

  static FloatVector load(long address) {
    return HalfVectors.exact(FloatVector.fromMemorySegment(FLOATS, Memory.ALL, address, ORDER));
  }

  static void store(FloatVector vector, long address) {
    vector.intoMemorySegment(Memory.ALL, address, ORDER);
  }

  static FloatVector all(float value) {
    return HalfVectors.exact(FloatVector.broadcast(FLOATS, value));
  }

  /** Weights from column {@code j} on of a row, stored as a {@link RowEncoding} says. */
  private static FloatVector load(Form form, int scaleAt, long row, int j) {
    if (form == Form.F32) {
      return load(row + 4L * j);
    }
    if (form == Form.INT8) {
      return loadBytes(row + j).mul(all(Memory.getFloat(row + scaleAt)));
    }
    return form == Form.F16
        ? HalfVectors.loadF16(row + 2L * j)
        : HalfVectors.loadBf16(row + 2L * j);
  }

  private static FloatVector loadBytes(long address) {
    ByteVector bytes =
        (ByteVector)
            BYTES_TYPE.cast(ByteVector.fromMemorySegment(BYTES, Memory.ALL, address, ORDER));
    IntVector whole =
        HalfVectors.exact((IntVector) bytes.convertShape(VectorOperators.B2I, INTS, 0));
    return HalfVectors.exact((FloatVector) whole.convertShape(VectorOperators.I2F, FLOATS, 0));
  }

  /** Two vectors of columns of rows of F32. */
  static void gather2(long[] rows, int[] inverse, MatrixBlock out, int j) {
    long base = out.base + 4L * j;
    long stride = out.stride;
    int to = out.to;
    for (int i = out.from; i < to; i++) {
      long row = rows[inverse[i]] + 4L * j;
      long target = base + i * stride;
      FloatVector first = load(row);
      FloatVector second = load(row + 4L * LANES);
      store(first, target);
      store(second, target + 4L * LANES);
    }
  }

  static void gather(RowEncoding encoding, long[] rows, int[] inverse, MatrixBlock out, int j) {
    Form form = encoding.form();
    int scaleAt = encoding.scaleAt();
    long base = out.base + 4L * j;
    long stride = out.stride;
    int to = out.to;
    for (int i = out.from; i < to; i++) {
      store(load(form, scaleAt, rows[inverse[i]], j), base + i * stride);
    }
  }

  /** Two vectors of columns of rows of F32. */
  static void pool2(RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    long[] rows = lookup.addresses;
    int[] inverse = lookup.inverse;
    int[] offsets = bags.offsets;
    float[] weights = bags.weights;
    for (int b = out.from; b < out.to; b++) {
      int end = offsets[b + 1];
      float scale = bags.scale(b);
      FloatVector first = all(0);
      FloatVector second = all(0);
      for (int i = offsets[b]; i < end; i++) {
        long row = rows[inverse[i]] + 4L * j;
        FloatVector factor = all(PooledBags.factor(weights, scale, i));
        first = factor.fma(load(row), first);
        second = factor.fma(load(row + 4L * LANES), second);
      }
      long target = out.base + b * out.stride + 4L * j;
      store(first, target);
      store(second, target + 4L * LANES);
    }
  }

  static void pool(
      RowEncoding encoding, RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    Form form = encoding.form();
    int scaleAt = encoding.scaleAt();
    long[] rows = lookup.addresses;
    int[] inverse = lookup.inverse;
    int[] offsets = bags.offsets;
    float[] weights = bags.weights;
    for (int b = out.from; b < out.to; b++) {
      int end = offsets[b + 1];
      float scale = bags.scale(b);
      FloatVector sum = all(0);
      for (int i = offsets[b]; i < end; i++) {
        FloatVector row = load(form, scaleAt, rows[inverse[i]], j);
        sum = all(PooledBags.factor(weights, scale, i)).fma(row, sum);
      }
      store(sum, out.base + b * out.stride + 4L * j);
    }
  }
}
