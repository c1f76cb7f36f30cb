package dev.tern.internal.kernel;

/**
 * The innermost loops of {@link MatMul}. Addresses are absolute, strides are bytes. Every element
 * takes its terms by fused multiply-add in ascending order of {@code k} from a given start value,
 * but for {@link #dots}: implementations differ in speed, never in bits.
 */
interface TileKernel {
  /** Rows of a tile. */
  int ROWS = 6;

  /** Sums of a product of two vectors. */
  int DOT_LANES = 16;

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

  /**
   * Combination of rows: y[j] += sum over p of x[p] * row p [j].
   *
   * @param x first of {@code k} factors, side by side
   * @param rows first element of row 0; rows lie {@code rowStep} apart
   * @param y first of {@code count} sums, side by side
   */
  void combine(long x, long rows, long rowStep, long y, int count, int k);

  /**
   * Outer product, c[i][j] = 0 + x[i] * y[j]: the one term of a sum that starts from 0.
   *
   * @param x first of {@code rows} factors, {@code xStep} apart
   * @param y first of {@code columns} factors, side by side
   */
  void outer(long x, long xStep, long y, long c, long cRow, int rows, int columns);

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

  /** Copies a block of {@code rows x columns} floats between row strides. */
  void copy(long from, long fromRow, long to, long toRow, int rows, int columns);

  /**
   * Cuts four rows into pieces of {@link #columns()} numbers, and puts four pieces that lie one
   * below the other side by side.
   *
   * @param from first of the four rows, which lie {@code step} apart
   * @param to where the first four pieces go; the next go {@code groupBytes} further
   */
  void spread(long from, long step, int groups, long to, long groupBytes);

  /**
   * Like {@link #spread}, but pieces have {@link #ROWS} numbers. Reads two numbers beyond the last
   * piece of each row, and writes two beyond the four pieces of each group.
   */
  void spreadStrips(long from, long step, int groups, long to, long groupBytes);
}
