package dev.tern.internal.kernel.matmul;

/** Tile kernels in one form throughout. */
final class Tiles {
  private Tiles() {}

  static TileKernel scalar() {
    ScalarTile tile = new ScalarTile(TileKernels.columns());
    return new TileKernel(tile, tile, tile);
  }

  /** By vectors, compiled or not. */
  static TileKernel vectors() {
    TileLoops loops = new TwoTermTile(new VectorTile(), new VectorPackedTile());
    return new TileKernel(loops, new VectorBlocks(), new VectorDots());
  }
}
