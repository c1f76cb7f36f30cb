/**
 * Fused elementwise kernels: from a {@link dev.tern.internal.kernel.KernelSpec} to a class that the
 * JIT compiles. A plan holds the structure; when it is bound, {@link
 * dev.tern.internal.kernel.emit.Kernels#of} gives the code, and the runtime runs {@link
 * dev.tern.internal.kernel.emit.CompiledKernel#active}.
 *
 * <pre>
 * KernelSpec -&gt; KernelPasses     which values each pass over a row computes, keeps and reads back
 *            -&gt; KernelEmitter    the class and its outer loops
 *                 RowEmitter       short rows of a known length, held in vectors
 *                 BlockEmitter     several passes over a block of rows
 *                   RowValueEmitter  what there is once for each row
 *                 PassEmitter      one pass over the inner loop
 *            -&gt; KernelWarmup     runs the vector form until it is compiled; CompiledKernel takes it
 * </pre>
 *
 * <p>The scalar form calls {@code Pointwise}; the vector form holds copies of the methods of {@link
 * dev.tern.internal.kernel.emit.VectorOps}.
 */
package dev.tern.internal.kernel.emit;
