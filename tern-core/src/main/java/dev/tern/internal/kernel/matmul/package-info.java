/**
 * Products of F32 matrices. {@link dev.tern.internal.kernel.matmul.MatMul} chooses by the sizes:
 *
 * <table>
 * <caption>Forms of a product</caption>
 * <tr><th>C is m x n, with k terms<th>class<th>inner loop
 * <tr><td>many small products<td>{@link dev.tern.internal.kernel.matmul.BatchProduct}<td>as below
 * <tr><td>one row or one column<td>{@code VectorProduct}<td>{@code RowDots}, {@code BlockKernel}
 * <tr><td>one term<td>{@code OuterProduct}<td>{@code BlockKernel}
 * <tr><td>small, of many terms, A or B transposed<td>{@code SplitProduct}<td>{@code BlockedProduct}, then sums
 * <tr><td>any other<td>{@code BlockedProduct}<td>{@code TileLoops}
 * </table>
 *
 * <p>Every element takes its terms in a fixed order by fused multiply-add. So the bits do not
 * depend on the vector length, on threads, or on the cut into blocks. An {@link
 * dev.tern.internal.kernel.matmul.Epilogue} runs a fused kernel on rows that were just computed.
 * {@link dev.tern.internal.kernel.matmul.DotInteraction} uses the same tiles, and {@link
 * dev.tern.internal.kernel.matmul.RecurrentStates} such products of few rows.
 */
package dev.tern.internal.kernel.matmul;
