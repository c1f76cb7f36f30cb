package dev.tern.internal.kernel;

/** A tile kernel of parts, each of which may be by vectors or not. */
record TileParts(TileLoops loops, BlockKernel blocks, RowDots rowDots, int columns)
    implements TileKernel {
  @Override
  public void tile(
      long a, long aStep, long b, long bStep, long start, long startRow, long c, long cRow, int k) {
    loops.tile(a, aStep, b, bStep, start, startRow, c, cRow, k);
  }

  @Override
  public void rows(
      long a,
      long aRow,
      long aStep,
      long b,
      long bStep,
      long start,
      long startRow,
      long c,
      long cRow,
      int k) {
    loops.rows(a, aRow, aStep, b, bStep, start, startRow, c, cRow, k);
  }

  @Override
  public void narrow(
      long a,
      long aRow,
      long aStep,
      long b,
      long bStep,
      long start,
      long startRow,
      long c,
      long cRow,
      int k) {
    loops.narrow(a, aRow, aStep, b, bStep, start, startRow, c, cRow, k);
  }

  @Override
  public void combine(long x, long rows, long rowStep, long y, int count, int k) {
    blocks.combine(x, rows, rowStep, y, count, k);
  }

  @Override
  public void outer(long x, long xStep, long y, long c, long cRow, int rows, int columns) {
    blocks.outer(x, xStep, y, c, cRow, rows, columns);
  }

  @Override
  public void copy(long from, long fromRow, long to, long toRow, int rows, int columns) {
    blocks.copy(from, fromRow, to, toRow, rows, columns);
  }

  @Override
  public void spread(long from, long step, int groups, long to, long groupBytes) {
    blocks.spread(from, step, groups, to, groupBytes);
  }

  @Override
  public void spreadStrips(long from, long step, int groups, long to, long groupBytes) {
    blocks.spreadStrips(from, step, groups, to, groupBytes);
  }

  @Override
  public void dots(
      long rows, long rowStep, long x, long y, long yStep, int count, int k, boolean accumulate) {
    rowDots.dots(rows, rowStep, x, y, yStep, count, k, accumulate);
  }
}
