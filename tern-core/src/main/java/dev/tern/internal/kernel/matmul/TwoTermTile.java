package dev.tern.internal.kernel.matmul;

/** Tiles with a faster loop where both operands are packed; {@code others} computes all else. */
record TwoTermTile(TileLoops others, PackedTile packed) implements TileLoops {
  /** With fewer terms, those beyond whole turns cost more than the turns save. */
  private static final int MANY = 32;

  private static final int TURN = PackedTile.TURN;
  private static final long STRIP = 4L * ROWS;
  private static final long PANEL = 4L * TileKernels.columns();

  @Override
  public void tile(TileStrides strides, long a, long b, long c, int k) {
    int whole = k - k % TURN;
    if (strides.aStep != STRIP || strides.bStep != PANEL || (k < MANY && whole < k)) {
      others.tile(strides, a, b, c, k);
      return;
    }
    packed.run(strides, a, b, c, whole);
    if (whole < k) {
      others.tile(strides.further, a + whole * STRIP, b + whole * PANEL, c, k - whole);
    }
  }

  @Override
  public void rows(TileStrides strides, long a, long b, long c, int k) {
    others.rows(strides, a, b, c, k);
  }

  @Override
  public void narrow(TileStrides strides, long a, long b, long c, int k) {
    others.narrow(strides, a, b, c, k);
  }
}
