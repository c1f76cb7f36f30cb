package dev.tern.internal.kernel;

/**
 * Tiles with a faster loop for operands that are both packed.
 *
 * @param others all else
 */
record TwoTermTile(TileLoops others, PackedTile packed) implements TileLoops {
  /** Below this many terms those left over from whole turns cost more than the turns save. */
  private static final int MANY = 32;

  private static final int TURN = PackedTile.TURN;
  private static final long STRIP = 4L * ROWS;
  private static final long PANEL = 4L * Tiles.columns();

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
}
