package dev.tern.internal.kernel.matmul;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;

/**
 * How the matrices of tiles lie in memory, in bytes. Element (i, p) of A is at {@code a + i * aRow
 * + p * aStep}, element (p, j) of B at {@code b + p * bStep + 4 * j}, element (i, j) of C at {@code
 * c + i * cRow + 4 * j}. Made once for each product; tiles read the fields before their loops.
 */
final class TileStrides {
  /** Zeros, where the sums of a tile start if it does not accumulate. */
  private static final long ZEROS = Memory.allocate(Arena.global(), 256, 64, "zeros").address();

  final long aRow;
  final long aStep;
  final long bStep;
  final long cRow;

  /** Whether sums start from what C holds, rather than from 0. */
  final boolean accumulates;

  /** Bytes between the rows that sums start from: rows of C, or one row of zeros for all. */
  final long startRow;

  /** The same strides for further terms: sums start from C. */
  final TileStrides further;

  TileStrides(long aRow, long aStep, long bStep, long cRow, boolean accumulates) {
    this.aRow = aRow;
    this.aStep = aStep;
    this.bStep = bStep;
    this.cRow = cRow;
    this.accumulates = accumulates;
    startRow = accumulates ? cRow : 0;
    further = accumulates ? this : new TileStrides(aRow, aStep, bStep, cRow, true);
  }

  /** These strides, or those for further terms. */
  TileStrides further(boolean isFurther) {
    return isFurther ? further : this;
  }

  /** Where sums start: the tile of C at {@code c}, or zeros. */
  long start(long c) {
    return accumulates ? c : ZEROS;
  }
}
