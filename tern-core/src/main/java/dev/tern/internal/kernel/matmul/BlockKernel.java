package dev.tern.internal.kernel.matmul;

/** The part of {@link TileKernel} that reads rows and blocks once. */
interface BlockKernel {
  /** Bytes between the factors of rows, bytes between rows of the result, and its columns. */
  record Outer(long xStep, long cRow, int columns) {}

  /**
   * Adds a combination of rows: {@code y[j] += x[0] * row 0 [j] + x[1] * row 1 [j] + ...}, term by
   * term in that order.
   *
   * @param x address of {@code k} factors, side by side
   * @param rows address of row 0
   * @param rowStep bytes between rows
   * @param y address of {@code count} sums, side by side
   */
  void combine(long x, long rows, long rowStep, long y, int count, int k);

  /** Computes {@code c[i][j] = fma(x[i], y[j], 0)}; factors y lie side by side. */
  void outer(Outer shape, long x, long y, long c, int rows);

  /**
   * Copies {@code rows x columns} floats; rows are {@code fromRow} and {@code toRow} bytes apart.
   */
  void copy(long from, long fromRow, long to, long toRow, int rows, int columns);

  /**
   * Cuts four rows into {@code groups} pieces of {@link TileKernels#columns()} floats. Four pieces
   * that lie below each other become a group, where they lie side by side.
   *
   * @param from address of the first row
   * @param step bytes between the rows
   * @param to address of the first group
   * @param groupBytes bytes between groups
   */
  void spread(long from, long step, int groups, long to, long groupBytes);

  /**
   * Does the same with pieces of {@link TileLoops#ROWS} floats. Reads two floats beyond the last
   * piece of each row, and writes two beyond the end of each group.
   */
  void spreadStrips(long from, long step, int groups, long to, long groupBytes);

  /**
   * Packs {@link TileLoops#ROWS} rows into a strip: number {@code p} of row {@code i} becomes float
   * {@code p * ROWS + i}. Numbers of a row lie side by side.
   *
   * @param from address of the first row
   * @param line bytes between rows
   * @param count numbers of each row
   */
  void interleave(long from, long line, int count, long to);
}
