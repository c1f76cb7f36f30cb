/**
 * Tensors and their computation: {@link dev.tern.tensor.Tensor} to write expressions, {@link
 * dev.tern.tensor.Ragged} for sequences of different lengths, {@link dev.tern.tensor.Variable} for
 * memory that changes, {@link dev.tern.tensor.Computation} to run an expression many times, {@link
 * dev.tern.tensor.Session} to compute op by op, {@link dev.tern.tensor.Device} for threads and
 * memory.
 *
 * <pre>{@code
 * try (Device device = Device.cpu(2, 1 << 20);
 *     Variable x = Variable.zeros(device, "x", Shape.of(3));
 *     Computation twice = Computation.of(device, List.of(x.tensor().mul(2)), Map.of())) {
 *   x.set(1, 2, 3);
 *   twice.run();
 *   MemorySegment doubled = twice.output(0); // 2, 4, 6
 * }
 * }</pre>
 */
@NullMarked
package dev.tern.tensor;

import org.jspecify.annotations.NullMarked;
