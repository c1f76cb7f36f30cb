/**
 * The machine behind {@code dev.tern.tensor.Session}: computes nodes one by one, when they are
 * asked for. {@link dev.tern.internal.eager.Eager} takes requests from any thread and puts commands
 * into a queue; the thread of {@code EagerWorker} takes them out; {@code Evaluator} runs the ops in
 * a block of memory of fixed size, drops values where room is short and computes them again.
 */
@NullMarked
package dev.tern.internal.eager;

import org.jspecify.annotations.NullMarked;
