package dev.tern.embedding;

import dev.tern.internal.kernel.HalfVectors;
import dev.tern.internal.memory.Memory;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link HalfLoops} on {@link HalfVectors#LANES} columns from column {@code j} on: element for
 * element the operations of {@link ScalarHalves}. Loaded only where the module {@code
 * jdk.incubator.vector} is present.
 */
final class VectorHalves {
  private static final VectorSpecies<Float> FLOATS = HalfVectors.FLOATS;
  private static final VectorSpecies<Integer> INTS = FLOATS.withLanes(int.class);
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final int[] COLUMNS = columns();

  private VectorHalves() {}

  /** What {@link Hashing#noise} adds for each column of a vector. */
  private static int[] columns() {
    int[] columns = new int[HalfVectors.LANES];
    for (int j = 0; j < columns.length; j++) {
      columns[j] = j * Hashing.COLUMN;
    }
    return columns;
  }

  private static FloatVector load(long address) {
    return HalfVectors.exact(FloatVector.fromMemorySegment(FLOATS, Memory.ALL, address, ORDER));
  }

  private static FloatVector all(float value) {
    return HalfVectors.exact(FloatVector.broadcast(FLOATS, value));
  }

  private static void store(FloatVector vector, long address) {
    vector.intoMemorySegment(Memory.ALL, address, ORDER);
  }

  static void gatherF16(
      long[] rows, int[] inverse, int from, int to, long out, long stride, int j) {
    for (int i = from; i < to; i++) {
      long target = out + (i - from) * stride + 4L * j;
      store(HalfVectors.loadF16(rows[inverse[i]] + 2L * j), target);
    }
  }

  static void gatherBf16(
      long[] rows, int[] inverse, int from, int to, long out, long stride, int j) {
    for (int i = from; i < to; i++) {
      long target = out + (i - from) * stride + 4L * j;
      store(HalfVectors.loadBf16(rows[inverse[i]] + 2L * j), target);
    }
  }

  static void poolF16(
      long[] rows,
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
        FloatVector row = HalfVectors.loadF16(rows[inverse[i]] + 2L * j);
        sum = all(scale).fma(row, sum);
      }
      store(sum, out + b * stride + 4L * j);
    }
  }

  static void poolBf16(
      long[] rows,
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
        FloatVector row = HalfVectors.loadBf16(rows[inverse[i]] + 2L * j);
        sum = all(scale).fma(row, sum);
      }
      store(sum, out + b * stride + 4L * j);
    }
  }

  static void poolWeightedF16(
      long[] rows,
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
        FloatVector row = HalfVectors.loadF16(rows[inverse[i]] + 2L * j);
        sum = all(scale * weights[i]).fma(row, sum);
      }
      store(sum, out + b * stride + 4L * j);
    }
  }

  static void poolWeightedBf16(
      long[] rows,
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
        FloatVector row = HalfVectors.loadBf16(rows[inverse[i]] + 2L * j);
        sum = all(scale * weights[i]).fma(row, sum);
      }
      store(sum, out + b * stride + 4L * j);
    }
  }

  static void storeF16(long[] rows, int count, long weights, long stride, int j) {
    for (int i = 0; i < count; i++) {
      HalfVectors.storeFiniteF16(load(weights + i * stride + 4L * j), rows[i] + 2L * j);
    }
  }

  static void storeBf16(long[] rows, int[] keys, int count, long weights, long stride, int j) {
    IntVector columns =
        HalfVectors.exact(IntVector.fromArray(INTS, COLUMNS, 0)).add(j * Hashing.COLUMN);
    for (int i = 0; i < count; i++) {
      FloatVector x = load(weights + i * stride + 4L * j);
      IntVector noise = noise(columns.add(keys[i]));
      HalfVectors.storeStochasticBf16(x, noise, rows[i] + 2L * j);
    }
  }

  /** {@link Hashing#noise} of keys to which the columns were added. */
  private static IntVector noise(IntVector x) {
    IntVector y = x.lanewise(VectorOperators.XOR, x.lanewise(VectorOperators.LSHR, 16));
    y = y.mul(Hashing.NOISE_1);
    y = y.lanewise(VectorOperators.XOR, y.lanewise(VectorOperators.LSHR, 15));
    return y.mul(Hashing.NOISE_2).lanewise(VectorOperators.LSHR, 16);
  }
}
