package dev.tern.internal.kernel.matmul;

/**
 * The innermost loops of {@link MatMul}; each part is scalar or by vectors. Addresses are absolute,
 * strides are bytes. Every element takes its terms by fused multiply-add in ascending order, except
 * in {@link RowDots}. Implementations differ in speed, never in bits.
 */
record TileKernel(TileLoops loops, BlockKernel blocks, RowDots rowDots) {}
