package dev.tern.internal.kernel;

/**
 * The innermost loops of {@link MatMul}. Addresses are absolute, strides are bytes. Every element
 * takes its terms by fused multiply-add in ascending order of {@code k} from a given start value,
 * but for {@link #dots}: implementations differ in speed, never in bits.
 */
interface TileKernel extends BlockKernel, RowDots {
  /** Rows of a tile. */
  int ROWS = 6;

  /** Columns of a tile: the width of a packed panel of B. */
  int columns();

  /**
   * Tile of C, {@code ROWS x columns()}: C = start + A B, where the rows of A lie side by side, as
   * in a packed strip or a transposed matrix.
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

  /** Like {@link #rows}, but of {@code 2 * ROWS} rows and half the columns. */
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
