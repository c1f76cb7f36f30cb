package dev.tern.internal.kernel;

/**
 * The innermost loops of {@link MatMul}. Addresses are absolute, strides are bytes. Every element
 * takes its terms by fused multiply-add in ascending order of {@code k} from a given start value,
 * but for {@link #dots}: implementations differ in speed, never in bits.
 */
interface TileKernel extends TileLoops, BlockKernel, RowDots {
  /** Columns of a tile: the width of a packed panel of B. */
  int columns();
}
