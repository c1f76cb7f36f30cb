package dev.tern.internal.table.rows;

import static dev.tern.internal.table.rows.VectorRows.LANES;

import dev.tern.internal.kernel.HalfVectors;
import jdk.incubator.vector.FloatVector;

/**
 * The loops of {@link IdSums} on {@link VectorRows#LANES} columns from column {@code j} on. Loaded
 * only if the module {@code jdk.incubator.vector} is present.
 */
final class VectorIdSums {
  private VectorIdSums() {}

  private static FloatVector load(float[] from, int at) {
    return HalfVectors.exact(FloatVector.fromArray(HalfVectors.FLOATS, from, at));
  }

  /** Two vectors of columns. */
  static void add2(RowLookup lookup, int width, float[] values, float[] sums, int j) {
    int[] inverse = lookup.inverse;
    int count = lookup.count();
    for (int i = 0; i < count; i++) {
      int source = i * width + j;
      int target = inverse[i] * width + j;
      FloatVector first = load(sums, target).add(load(values, source));
      FloatVector second = load(sums, target + LANES).add(load(values, source + LANES));
      first.intoArray(sums, target);
      second.intoArray(sums, target + LANES);
    }
  }

  static void add(RowLookup lookup, int width, float[] values, float[] sums, int j) {
    int[] inverse = lookup.inverse;
    int count = lookup.count();
    for (int i = 0; i < count; i++) {
      int target = inverse[i] * width + j;
      load(sums, target).add(load(values, i * width + j)).intoArray(sums, target);
    }
  }
}
