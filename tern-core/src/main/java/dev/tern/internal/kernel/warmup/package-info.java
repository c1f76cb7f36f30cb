/**
 * Gets vector code compiled before it is used. A loop of Vector API calls boxes every vector, and
 * is a hundred times slower than scalar code, until the last tier of the JIT has compiled it. So
 * scalar code serves first:
 *
 * <pre>
 *   caller ----&gt; VectorForm.active: scalar ---------------------&gt; vector
 *                     | enqueue                          adopt ^    | starts to box:
 *   tern-warmup       v                                        |    v BoxingWatch
 *   thread         Warmup --&gt; WarmupRun: round, round, ... until rounds allocate nothing
 *                                 | allocates for good: renew, in a class of its own
 * </pre>
 *
 * <p>The JIT compiles what is called often, and boxed vectors make each call cost milliseconds. So
 * every method that holds loops of vector code returns at once if there are no rows or a size is
 * negative. A candidate is called like that thousands of times, and with work to do a few dozen
 * times, by which the JIT learns the branches: see {@link
 * dev.tern.internal.kernel.warmup.Warmup.Round}.
 *
 * <p>State is shared by the whole process, as code and JIT are: a queue, one daemon thread and, for
 * each kernel, the form in use. Only the kernel packages use it. Emitted kernels are candidates;
 * each other kernel is a {@link dev.tern.internal.kernel.warmup.VectorForm}.
 */
package dev.tern.internal.kernel.warmup;
