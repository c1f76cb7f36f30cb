package dev.tern.embedding;

import dev.tern.internal.kernel.HalfVectors;
import dev.tern.internal.memory.Memory;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link ByteLoops} on {@link HalfVectors#LANES} columns from column {@code j} on: element for
 * element the operations of {@link ScalarBytes}. Loaded only where the module {@code
 * jdk.incubator.vector} is present.
 */
final class VectorBytes {
  private static final VectorSpecies<Float> FLOATS = HalfVectors.FLOATS;
  private static final VectorSpecies<Integer> INTS = FLOATS.withLanes(int.class);

  /** The shortest there is. Of 8 lanes only 4 may be used: those behind end in the row's scale. */
  private static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_64;

  private static final Class<?> BYTES_TYPE = BYTES.vectorType();
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private VectorBytes() {}

  /** Weights of the row at {@code row} from column {@code j} on. */
  private static FloatVector load(long row, int scaleAt, int j) {
    ByteVector bytes =
        (ByteVector)
            BYTES_TYPE.cast(ByteVector.fromMemorySegment(BYTES, Memory.ALL, row + j, ORDER));
    IntVector whole =
        HalfVectors.exact((IntVector) bytes.convertShape(VectorOperators.B2I, INTS, 0));
    FloatVector floats =
        HalfVectors.exact((FloatVector) whole.convertShape(VectorOperators.I2F, FLOATS, 0));
    return floats.mul(all(Memory.getFloat(row + scaleAt)));
  }

  private static FloatVector all(float value) {
    return HalfVectors.exact(FloatVector.broadcast(FLOATS, value));
  }

  private static void store(FloatVector vector, long address) {
    vector.intoMemorySegment(Memory.ALL, address, ORDER);
  }

  static void gather(
      long[] rows, int scaleAt, int[] inverse, int from, int to, long out, long stride, int j) {
    for (int i = from; i < to; i++) {
      store(load(rows[inverse[i]], scaleAt, j), out + (i - from) * stride + 4L * j);
    }
  }

  static void pool(
      long[] rows,
      int scaleAt,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      long out,
      long stride,
      int j) {
    for (int b = from; b < to; b++) {
      int end = offsets[b + 1];
      float scale = combiner.scale(end - offsets[b]);
      FloatVector sum = all(0);
      for (int i = offsets[b]; i < end; i++) {
        FloatVector row = load(rows[inverse[i]], scaleAt, j);
        sum = all(scale).fma(row, sum);
      }
      store(sum, out + b * stride + 4L * j);
    }
  }

  static void poolWeighted(
      long[] rows,
      int scaleAt,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      float[] weights,
      long out,
      long stride,
      int j) {
    for (int b = from; b < to; b++) {
      int begin = offsets[b];
      int end = offsets[b + 1];
      float scale = combiner.scale(weights, begin, end);
      FloatVector sum = all(0);
      for (int i = begin; i < end; i++) {
        FloatVector row = load(rows[inverse[i]], scaleAt, j);
        sum = all(scale * weights[i]).fma(row, sum);
      }
      store(sum, out + b * stride + 4L * j);
    }
  }
}
