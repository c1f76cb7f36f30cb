package dev.tern.internal.kernel;

/**
 * The innermost loops of {@link MatMul}. Addresses are absolute, strides are bytes. Every element
 * of a product starts from zero or from its old value and takes its terms by fused multiply-add in
 * ascending order of {@code k}: implementations differ in speed, never in bits.
 */
interface TileKernel {
  /** Rows of a tile. */
  int ROWS = 6;

  /** Strides along k must stay below this many bytes, and above or at zero. */
  int STRIDE_LIMIT = 1 << 20;

  /** Columns of a tile: the width of a packed panel of B. */
  int columns();

  /**
   * Tile of C, {@code ROWS x columns()}: C = start + A B.
   *
   * @param a first element of A; element (i, p) is at {@code a + i * aRow + p * aStep}
   * @param b first element of B; element (p, j) is at {@code b + p * bStep + 4 * j}
   * @param start first of the values that the sums start from; element (i, j) is at {@code start +
   *     i * startRow + 4 * j}
   * @param c first element of C; element (i, j) is at {@code c + i * cRow + 4 * j}
   */
  void tile(
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

  /** Copies a block of {@code rows x columns} floats between row strides. */
  void copy(long from, long fromRow, long to, long toRow, int rows, int columns);
}
