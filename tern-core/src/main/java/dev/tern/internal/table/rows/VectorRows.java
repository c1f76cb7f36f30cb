package dev.tern.internal.table.rows;

import dev.tern.internal.kernel.HalfVectors;
import dev.tern.internal.memory.Memory;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loops of {@link RowReads} on {@link #LANES} columns from column {@code j} on, with the same
 * operations for each element. Vectors have 8 lanes at most, so that short rows fill them, and
 * every method is small enough for the first compiler. Loaded only if the module {@code
 * jdk.incubator.vector} is present.
 *
 * <p>Each encoding has a loop of its own. One loop for all encodings would be compiled for the
 * encoding that the process met first; rows of another one would then pass through vector objects
 * on the heap. Bags with and without weights share a loop: in a process without weights, the
 * compiler leaves the test out.
 */
final class VectorRows {
  private static final VectorSpecies<Float> FLOATS = HalfVectors.FLOATS;

  static final int LANES = FLOATS.length();
  private static final VectorSpecies<Integer> INTS = FLOATS.withLanes(int.class);

  /** The shortest species. If only 4 of its 8 lanes are used, the others read the scale. */
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

  /** Weights of a row of {@link Int8Rows} from column {@code j} on. */
  static FloatVector loadInt8(long row, int scaleAt, int j) {
    ByteVector bytes =
        (ByteVector)
            BYTES_TYPE.cast(ByteVector.fromMemorySegment(BYTES, Memory.ALL, row + j, ORDER));
    IntVector whole =
        HalfVectors.exact((IntVector) bytes.convertShape(VectorOperators.B2I, INTS, 0));
    FloatVector floats =
        HalfVectors.exact((FloatVector) whole.convertShape(VectorOperators.I2F, FLOATS, 0));
    return floats.mul(all(Memory.getFloat(row + scaleAt)));
  }

  /** Two vectors of columns of rows of F32. */
  static void gather2(long[] rows, int[] inverse, MatrixBlock out, int j) {
    for (int i = out.from; i < out.to; i++) {
      long row = rows[inverse[i]] + 4L * j;
      long target = out.at(i, j);
      FloatVector first = load(row);
      FloatVector second = load(row + 4L * LANES);
      store(first, target);
      store(second, target + 4L * LANES);
    }
  }

  static void gather(long[] rows, int[] inverse, MatrixBlock out, int j) {
    for (int i = out.from; i < out.to; i++) {
      store(load(rows[inverse[i]] + 4L * j), out.at(i, j));
    }
  }

  static void gatherF16(long[] rows, int[] inverse, MatrixBlock out, int j) {
    for (int i = out.from; i < out.to; i++) {
      store(HalfVectors.loadF16(rows[inverse[i]] + 2L * j), out.at(i, j));
    }
  }

  static void gatherBf16(long[] rows, int[] inverse, MatrixBlock out, int j) {
    for (int i = out.from; i < out.to; i++) {
      store(HalfVectors.loadBf16(rows[inverse[i]] + 2L * j), out.at(i, j));
    }
  }

  static void gatherInt8(int scaleAt, long[] rows, int[] inverse, MatrixBlock out, int j) {
    for (int i = out.from; i < out.to; i++) {
      store(loadInt8(rows[inverse[i]], scaleAt, j), out.at(i, j));
    }
  }

  /** Two vectors of columns of rows of F32. */
  static void pool2(RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    for (int b = out.from; b < out.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      FloatVector first = all(0);
      FloatVector second = all(0);
      for (int i = bags.begin(b); i < end; i++) {
        long row = lookup.row(i) + 4L * j;
        FloatVector factor = all(bags.factor(scale, i));
        first = factor.fma(load(row), first);
        second = factor.fma(load(row + 4L * LANES), second);
      }
      store(first, out.at(b, j));
      store(second, out.at(b, j + LANES));
    }
  }

  static void pool(RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    for (int b = out.from; b < out.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      FloatVector sum = all(0);
      for (int i = bags.begin(b); i < end; i++) {
        FloatVector row = load(lookup.row(i) + 4L * j);
        sum = all(bags.factor(scale, i)).fma(row, sum);
      }
      store(sum, out.at(b, j));
    }
  }

  static void poolF16(RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    for (int b = out.from; b < out.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      FloatVector sum = all(0);
      for (int i = bags.begin(b); i < end; i++) {
        FloatVector row = HalfVectors.loadF16(lookup.row(i) + 2L * j);
        sum = all(bags.factor(scale, i)).fma(row, sum);
      }
      store(sum, out.at(b, j));
    }
  }

  static void poolBf16(RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    for (int b = out.from; b < out.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      FloatVector sum = all(0);
      for (int i = bags.begin(b); i < end; i++) {
        FloatVector row = HalfVectors.loadBf16(lookup.row(i) + 2L * j);
        sum = all(bags.factor(scale, i)).fma(row, sum);
      }
      store(sum, out.at(b, j));
    }
  }

  static void poolInt8(int scaleAt, RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    for (int b = out.from; b < out.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      FloatVector sum = all(0);
      for (int i = bags.begin(b); i < end; i++) {
        FloatVector row = loadInt8(lookup.row(i), scaleAt, j);
        sum = all(bags.factor(scale, i)).fma(row, sum);
      }
      store(sum, out.at(b, j));
    }
  }
}
