package dev.tern.internal.kernel.matmul;

/**
 * Sizes and strides of a matrix product: A is {@code m x k}, B {@code k x n}, C {@code m x n}.
 *
 * @param ars elements between rows of A; {@code acs} between its columns, and so for B
 * @param ldc elements between rows of C
 * @param accumulate whether the product is added to the old values of C
 */
public record ProductSpec(
    long ars, long acs, long brs, long bcs, long ldc, int m, int n, int k, boolean accumulate) {}
