/**
 * Gets vector code compiled before it is used. Until the JIT's last tier has compiled a loop of
 * Vector API calls, the loop boxes every vector and runs a hundred times slower than scalar code.
 * So scalar code serves first:
 *
 * <pre>
 *   caller ----&gt; VectorForm.active: scalar ---------------------&gt; vector
 *                     | enqueue                          adopt ^    | comes to box:
 *   tern-warmup       v                                        |    v BoxingWatch
 *   thread         Warmup --&gt; WarmupRun: round, round, ... until rounds allocate nothing
 *                                 | allocates for good: renew, in a class of its own
 * </pre>
 *
 * <p>The state is one for the process, as the code and the JIT are: a queue, one daemon thread and,
 * for each kernel, the form in use. Only the kernel packages use it; emitted kernels are candidates
 * themselves, the others are a {@link dev.tern.internal.kernel.warmup.VectorForm}.
 */
package dev.tern.internal.kernel.warmup;
