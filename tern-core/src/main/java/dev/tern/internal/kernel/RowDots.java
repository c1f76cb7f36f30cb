package dev.tern.internal.kernel;

/** The part of {@link TileKernel} that multiplies rows with a vector. */
interface RowDots {
  /** Sums of a product of two vectors. */
  int DOT_LANES = 16;

  /**
   * Products of rows with one vector: y[i] = or += sum over p of row i [p] * x[p]. Terms of whole
   * blocks of {@link #DOT_LANES} go to as many sums, which start from 0 and are added as a tree
   * (lane i and i + 8, then 4, 2 and 1 apart); the others follow in ascending order.
   *
   * @param rows first element of row 0; rows lie {@code rowStep} apart, their elements side by side
   * @param x first of {@code k} factors, side by side
   * @param y first of {@code count} results, {@code yStep} apart
   */
  void dots(
      long rows, long rowStep, long x, long y, long yStep, int count, int k, boolean accumulate);
}
