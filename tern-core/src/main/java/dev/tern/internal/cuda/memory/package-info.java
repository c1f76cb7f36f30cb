/**
 * Memory of CUDA devices, and pinned memory of the host, under the budgets of an {@link
 * dev.tern.internal.memory.Allocator}.
 *
 * <p>{@link dev.tern.internal.cuda.memory.CudaBlocks} gives blocks and takes them back. A block
 * that streams still use waits until they have come past it ({@link
 * dev.tern.internal.cuda.memory.WaitingBlocks}).
 */
@NullMarked
package dev.tern.internal.cuda.memory;

import org.jspecify.annotations.NullMarked;
