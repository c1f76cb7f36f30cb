package dev.tern.embedding;

import static dev.tern.internal.memory.Memory.getFloat;
import static dev.tern.internal.memory.Memory.getShort;
import static dev.tern.internal.memory.Memory.setFloat;
import static dev.tern.internal.memory.Memory.setShort;

import dev.tern.base.DType;
import dev.tern.internal.kernel.Halves;

/** Weights as they are stored: one of them, or {@link HalfLoops} on one column, {@code j}. */
final class ScalarHalves {
  private ScalarHalves() {}

  /** Weight {@code j} of the row at an address. */
  static float get(DType storage, long row, int j) {
    return storage == DType.F32
        ? getFloat(row + 4L * j)
        : Halves.widen(storage, getShort(row + 2L * j));
  }

  /** Stores the nearest value that is finite if {@code weight} is. */
  static void set(DType storage, long row, int j, float weight) {
    if (storage == DType.F32) {
      setFloat(row + 4L * j, weight);
    } else {
      setShort(row + 2L * j, Halves.nearestFinite(storage, weight));
    }
  }

  /** What {@link #get} gives after {@link #set}. */
  static float stored(DType storage, float weight) {
    return storage == DType.F32
        ? weight
        : Halves.widen(storage, Halves.nearestFinite(storage, weight));
  }

  static void gather(
      DType storage, long[] rows, int[] inverse, int from, int to, long out, long stride, int j) {
    for (int i = from; i < to; i++) {
      setFloat(out + (i - from) * stride + 4L * j, get(storage, rows[inverse[i]], j));
    }
  }

  static void pool(
      DType storage,
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
      float sum = 0;
      for (int i = offsets[b]; i < end; i++) {
        sum = Math.fma(scale, get(storage, rows[inverse[i]], j), sum);
      }
      setFloat(out + b * stride + 4L * j, sum);
    }
  }

  static void poolWeighted(
      DType storage,
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
      float sum = 0;
      for (int i = begin; i < end; i++) {
        sum = Math.fma(scale * weights[i], get(storage, rows[inverse[i]], j), sum);
      }
      setFloat(out + b * stride + 4L * j, sum);
    }
  }

  static void storeF16(long[] rows, int count, long weights, long stride, int j) {
    for (int i = 0; i < count; i++) {
      set(DType.F16, rows[i], j, getFloat(weights + i * stride + 4L * j));
    }
  }

  static void storeBf16(long[] rows, int[] keys, int count, long weights, long stride, int j) {
    for (int i = 0; i < count; i++) {
      float weight = getFloat(weights + i * stride + 4L * j);
      setShort(rows[i] + 2L * j, Halves.stochasticBf16(weight, Hashing.noise(keys[i], j)));
    }
  }
}
