package dev.tern.internal.kernel;

/** The part of {@link TileKernel} that goes over rows and blocks once. */
interface BlockKernel {
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

  /** Copies a block of {@code rows x columns} floats between row strides. */
  void copy(long from, long fromRow, long to, long toRow, int rows, int columns);

  /**
   * Cuts four rows into pieces of {@link Tiles#columns()} numbers, and puts four pieces that lie
   * one below the other side by side.
   *
   * @param from first of the four rows, which lie {@code step} apart
   * @param to where the first four pieces go; the next go {@code groupBytes} further
   */
  void spread(long from, long step, int groups, long to, long groupBytes);

  /**
   * Like {@link #spread}, but pieces have {@link TileLoops#ROWS} numbers. Reads two numbers beyond
   * the last piece of each row, and writes two beyond the four pieces of each group.
   */
  void spreadStrips(long from, long step, int groups, long to, long groupBytes);
}
