/**
 * Loops over floats in memory. Each has a scalar form and a vector form, which give the same bits.
 * This package holds what all kernels share; the packages below it hold the kernels.
 *
 * <pre>
 *          internal.plan, internal.runtime, internal.table.rows
 *             |               |              |
 *   ops ----&gt; emit         matmul            |      kernels
 *     \        |             /               |
 *      +--&gt; warmup &lt;--------+                |      gets vector code compiled before it is used
 *              \                             |
 *               kernel &lt;--------------------+      this package
 * </pre>
 *
 * <table>
 * <caption>Types</caption>
 * <tr><td>{@link dev.tern.internal.kernel.KernelSpec}<td>the structure of a fused kernel
 * <tr><td>{@link dev.tern.internal.kernel.Kernel}<td>its code
 * <tr><td>{@link dev.tern.internal.kernel.ReductionLanes}<td>the order in which rows are summed
 * <tr><td>{@link dev.tern.internal.kernel.Halves}, {@link dev.tern.internal.kernel.HalfVectors}
 *     <td>F16 and BF16 to F32 and back
 * <tr><td>{@link dev.tern.internal.kernel.VectorSupport}<td>whether there are vectors, how wide
 * </table>
 */
package dev.tern.internal.kernel;
