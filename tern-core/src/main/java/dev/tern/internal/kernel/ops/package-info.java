/**
 * Operations that are neither elementwise nor matrix products. The runtime calls each on ranges of
 * rows, so that threads can share them.
 *
 * <table>
 * <caption>Operations</caption>
 * <tr><td>{@link dev.tern.internal.kernel.ops.PairSums}<td>sums of all pairs of vectors (FM)
 * <tr><td>{@link dev.tern.internal.kernel.ops.HalfCasts}<td>F32 to F16 or BF16, and back
 * <tr><td>{@link dev.tern.internal.kernel.ops.RowIndex}<td>gather and scatter of rows
 * <tr><td>{@link dev.tern.internal.kernel.ops.SegmentReduction}<td>sums or maxima of runs of rows
 * </table>
 */
package dev.tern.internal.kernel.ops;
