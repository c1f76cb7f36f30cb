package dev.tern.internal.kernel;

/** {@link TileLoops#tile} of a packed strip and a packed panel. */
interface PackedTile {
  /** Terms in a turn of the loop. */
  int TURN = 2;

  /**
   * The tile.
   *
   * @param aTurn bytes of the strip that a turn takes
   * @param bTurn bytes of the panel that a turn takes
   * @param k a multiple of {@link #TURN}
   */
  void run(
      long a, long aTurn, long b, long bTurn, long start, long startRow, long c, long cRow, int k);
}
