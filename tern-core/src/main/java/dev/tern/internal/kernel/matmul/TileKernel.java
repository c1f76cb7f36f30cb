package dev.tern.internal.kernel.matmul;

/**
 * The innermost loops of {@link MatMul}, each part by vectors or not. Addresses are absolute,
 * strides are bytes. Every element takes its terms by fused multiply-add in ascending order of
 * {@code k} from a given start value, but for {@link RowDots}: implementations differ in speed,
 * never in bits.
 */
record TileKernel(TileLoops loops, BlockKernel blocks, RowDots rowDots) {}
