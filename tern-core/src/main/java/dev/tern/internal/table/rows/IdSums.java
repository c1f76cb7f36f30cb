package dev.tern.internal.table.rows;

import dev.tern.internal.kernel.VectorSupport;

/**
 * Adds up rows of arrays that are of one id. {@link VectorIdSums} takes the columns of whole
 * vectors, with a loop over rows as in {@link RowReads}, and the same bits.
 */
public final class IdSums {
  private IdSums() {}

  /**
   * The sum, in order of position, of the rows of each distinct id of a filled lookup.
   *
   * @param values a row for each position, {@code [N, W]} row-major
   * @return {@code [U, W]} row-major
   */
  public static float[] ofIds(RowLookup lookup, int width, float[] values) {
    float[] sums = new float[Math.multiplyExact(lookup.unique(), width)];
    add(VectorSupport.available(), lookup, width, values, sums);
    return sums;
  }

  static void add(boolean vectors, RowLookup lookup, int width, float[] values, float[] sums) {
    int lanes = vectors ? VectorRows.LANES : Integer.MAX_VALUE;
    int j = 0;
    for (; j <= width - 2L * lanes; j += 2 * lanes) {
      VectorIdSums.add2(lookup, width, values, sums, j);
    }
    for (; j <= width - lanes; j += lanes) {
      VectorIdSums.add(lookup, width, values, sums, j);
    }
    if (j < width) {
      addRest(lookup, width, values, sums, j);
    }
  }

  /** The columns from {@code j} on, which no vector takes, row by row. */
  private static void addRest(RowLookup lookup, int width, float[] values, float[] sums, int j) {
    int[] inverse = lookup.inverse;
    int count = lookup.count();
    for (int i = 0; i < count; i++) {
      int source = i * width;
      int target = inverse[i] * width;
      for (int k = j; k < width; k++) {
        sums[target + k] += values[source + k];
      }
    }
  }
}
