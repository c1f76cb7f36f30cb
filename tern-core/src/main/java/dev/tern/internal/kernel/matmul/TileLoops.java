package dev.tern.internal.kernel.matmul;

/** The part of {@link TileKernel} that computes tiles of C: {@code C = A B} or {@code C += A B}. */
interface TileLoops {
  /** Rows of a tile. */
  int ROWS = 6;

  /**
   * A tile of {@link #ROWS} x {@link TileKernels#columns()} elements. Rows of A lie side by side
   * ({@code aRow} is 4), as in a packed strip or a transposed matrix.
   *
   * @param a address of the first element of A, and so for B and C
   * @param k terms of each element
   */
  void tile(TileStrides strides, long a, long b, long c, int k);

  /** Like {@link #tile}, but rows of A may lie anywhere. */
  void rows(TileStrides strides, long a, long b, long c, int k);

  /** Like {@link #rows}, but the tile has half the columns. */
  void narrow(TileStrides strides, long a, long b, long c, int k);
}
