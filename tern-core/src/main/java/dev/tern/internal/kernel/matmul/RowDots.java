package dev.tern.internal.kernel.matmul;

/** The part of {@link TileKernel} that multiplies rows with a vector. */
interface RowDots {
  /** Number of sums that the terms of a result go to. */
  int DOT_LANES = 16;

  /**
   * Sizes that are the same for all calls in a product.
   *
   * @param rowStep bytes between rows
   * @param yStep bytes between results
   * @param k terms of each result
   * @param accumulates whether the product is added to what the result holds
   */
  record Shape(long rowStep, long yStep, int k, boolean accumulates) {
    /** Terms in whole blocks of {@link #DOT_LANES}. */
    int whole() {
      return k / DOT_LANES * DOT_LANES;
    }
  }

  /**
   * Multiplies rows with one vector: {@code y[i] = row i [0] * x[0] + row i [1] * x[1] + ...}. Term
   * {@code p} of the whole blocks goes to sum {@code p % 16}; each of the 16 sums starts from 0.
   * The sums are added as a tree: sum {@code i} and {@code i + 8}, then those 4, 2 and 1 apart.
   * Terms beyond whole blocks follow in ascending order.
   *
   * @param rows address of the first row, whose elements lie side by side
   * @param x address of {@code k} factors, side by side
   * @param y address of the first of {@code count} results
   */
  void dots(Shape shape, long rows, long x, long y, int count);
}
