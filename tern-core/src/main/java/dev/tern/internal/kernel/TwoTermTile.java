package dev.tern.internal.kernel;

/**
 * A tile kernel with a faster loop for operands that are both packed.
 *
 * @param others all else
 */
record TwoTermTile(TileKernel others, PackedTile packed) implements TileKernel {
  /** Below this many terms those left over from whole turns cost more than the turns save. */
  private static final int MANY = 32;

  private static final int TURN = PackedTile.TURN;
  private static final long STRIP = 4L * ROWS;
  private static final long PANEL = 4L * Tiles.columns();

  @Override
  public int columns() {
    return others.columns();
  }

  @Override
  public void tile(
      long a, long aStep, long b, long bStep, long start, long startRow, long c, long cRow, int k) {
    int whole = k - k % TURN;
    if (aStep != STRIP || bStep != PANEL || (k < MANY && whole < k)) {
      others.tile(a, aStep, b, bStep, start, startRow, c, cRow, k);
      return;
    }
    packed.run(a, TURN * STRIP, b, TURN * PANEL, start, startRow, c, cRow, whole);
    if (whole < k) {
      long nextA = a + whole * STRIP;
      long nextB = b + whole * PANEL;
      others.tile(nextA, STRIP, nextB, PANEL, c, cRow, c, cRow, k - whole);
    }
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
    others.rows(a, aRow, aStep, b, bStep, start, startRow, c, cRow, k);
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
    others.narrow(a, aRow, aStep, b, bStep, start, startRow, c, cRow, k);
  }

  @Override
  public void combine(long x, long rows, long rowStep, long y, int count, int k) {
    others.combine(x, rows, rowStep, y, count, k);
  }

  @Override
  public void outer(long x, long xStep, long y, long c, long cRow, int rows, int columns) {
    others.outer(x, xStep, y, c, cRow, rows, columns);
  }

  @Override
  public void dots(
      long rows, long rowStep, long x, long y, long yStep, int count, int k, boolean accumulate) {
    others.dots(rows, rowStep, x, y, yStep, count, k, accumulate);
  }

  @Override
  public void copy(long from, long fromRow, long to, long toRow, int rows, int columns) {
    others.copy(from, fromRow, to, toRow, rows, columns);
  }

  @Override
  public void spread(long from, long step, int groups, long to, long groupBytes) {
    others.spread(from, step, groups, to, groupBytes);
  }

  @Override
  public void spreadStrips(long from, long step, int groups, long to, long groupBytes) {
    others.spreadStrips(from, step, groups, to, groupBytes);
  }
}
