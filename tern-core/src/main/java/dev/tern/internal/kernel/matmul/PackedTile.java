package dev.tern.internal.kernel.matmul;

/** {@link TileLoops#tile} for a packed strip and a packed panel. */
interface PackedTile {
  /** Terms that a turn of the loop takes. */
  int TURN = 2;

  /** Computes a tile of {@code k} terms, a multiple of {@link #TURN}. */
  void run(TileStrides strides, long a, long b, long c, int k);
}
