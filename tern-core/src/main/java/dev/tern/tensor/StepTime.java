package dev.tern.tensor;

import java.util.Locale;

/**
 * What one step of a computation has cost so far.
 *
 * @param what the op with its sizes, or a fused kernel's expression
 * @param state of its code: {@code vector}, {@code scalar} while the vector form is being compiled,
 *     or {@code scalar only}
 * @param runs number of runs
 * @param nanos of all runs together, wall clock
 * @param flops arithmetic operations of one run; a mathematical function counts as one
 * @param bytes of the operands that one run reads or writes, each once
 */
public record StepTime(
    String what, String state, long runs, long nanos, double flops, double bytes) {
  /** The cost since {@code before}, an earlier reading of the same step. */
  public StepTime since(StepTime before) {
    return new StepTime(what, state, runs - before.runs, nanos - before.nanos, flops, bytes);
  }

  /** The sum with {@code other}, a reading of the same step elsewhere. */
  public StepTime plus(StepTime other) {
    return new StepTime(what, state, runs + other.runs, nanos + other.nanos, flops, bytes);
  }

  /** Milliseconds of one run. */
  public double milliseconds() {
    return runs == 0 ? 0 : nanos / 1e6 / runs;
  }

  /** Billions of operations a second. */
  public double gigaflops() {
    return nanos == 0 ? 0 : flops * runs / nanos;
  }

  /** Billions of bytes a second. */
  public double gigabytes() {
    return nanos == 0 ? 0 : bytes * runs / nanos;
  }

  @Override
  public String toString() {
    String format = "%9.3f ms %7d runs %7.1f GFLOP/s %7.1f GB/s  %-11s  %s";
    return String.format(
        Locale.ROOT, format, milliseconds(), runs, gigaflops(), gigabytes(), state, what);
  }
}
