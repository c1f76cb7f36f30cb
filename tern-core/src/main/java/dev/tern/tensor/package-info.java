/**
 * Tensors and what they are computed with: {@link dev.tern.tensor.Tensor} to write expressions,
 * {@link dev.tern.tensor.Ragged} for sequences of any lengths, {@link dev.tern.tensor.Variable} for
 * what changes, {@link dev.tern.tensor.Computation} to run an expression many times, {@link
 * dev.tern.tensor.Device} for threads and memory.
 */
@NullMarked
package dev.tern.tensor;

import org.jspecify.annotations.NullMarked;
