package dev.tern.internal.kernel.matmul;

/**
 * The innermost loops of {@link MatMul}, each in scalar or in vector form. Strides are bytes. Every
 * element takes its terms by fused multiply-add in ascending order, except in {@link RowDots}.
 * Forms differ in speed, never in bits.
 */
record TileKernel(TileLoops loops, BlockKernel blocks, RowDots rowDots) {}
