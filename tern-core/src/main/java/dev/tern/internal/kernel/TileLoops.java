package dev.tern.internal.kernel;

/** The part of {@link TileKernel} that computes tiles of C. */
interface TileLoops {
  /** Rows of a tile. */
  int ROWS = 6;

  /**
   * Tile of C, {@code ROWS} x {@link Tiles#columns()}: C = start + A B, where the rows of A lie
   * side by side, as in a packed strip or a transposed matrix.
   *
   * @param a first element of A; element (i, p) is at {@code a + p * aStep + 4 * i}
   * @param b first element of B; element (p, j) is at {@code b + p * bStep + 4 * j}
   * @param start first value that the sums start from; element (i, j) is at {@code start + i *
   *     startRow + 4 * j}
   * @param c first element of C; element (i, j) is at {@code c + i * cRow + 4 * j}
   */
  void tile(
      long a, long aStep, long b, long bStep, long start, long startRow, long c, long cRow, int k);

  /** Like {@link #tile}, but element (i, p) of A is at {@code a + i * aRow + p * aStep}. */
  void rows(
      long a,
      long aRow,
      long aStep,
      long b,
      long bStep,
      long start,
      long startRow,
      long c,
      long cRow,
      int k);

  /** Like {@link #rows}, but of half the columns. */
  void narrow(
      long a,
      long aRow,
      long aStep,
      long b,
      long bStep,
      long start,
      long startRow,
      long c,
      long cRow,
      int k);
}
