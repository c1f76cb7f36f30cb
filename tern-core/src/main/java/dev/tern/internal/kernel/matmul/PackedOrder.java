package dev.tern.internal.kernel.matmul;

/**
 * The order in which a product reads B from packed panels. Products of equal orders can read the
 * same packed matrix, though they have different numbers of rows.
 *
 * @param n columns of B
 * @param k rows of B
 * @param brs elements between rows of B where it is not packed; {@code bcs} between its columns
 * @param terms most rows in a slab of the first columns
 * @param bytes of the packed matrix
 */
public record PackedOrder(int n, int k, long brs, long bcs, int terms, long bytes) {}
