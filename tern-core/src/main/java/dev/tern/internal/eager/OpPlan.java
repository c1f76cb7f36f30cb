package dev.tern.internal.eager;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.base.Workers;
import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.emit.CompiledKernel;
import dev.tern.internal.plan.Plan;
import dev.tern.internal.runtime.Execution;
import java.util.List;
import java.util.Optional;

/** The plan of one op on operands of known sizes, and the measured time of a run. */
final class OpPlan {
  /**
   * What tells structures of ops apart.
   *
   * @param inputs views, constants and operands in turn
   */
  record Key(Op op, Shape shape, DType type, List<Object> inputs) {}

  private static final double NEWEST = 0.25;

  private final Key key;
  private final Plan plan;
  private final List<Optional<CompiledKernel>> kernels;
  private final int[] slots;
  private final long scratch;
  private double nanos;

  /**
   * @param slots by leaf of the plan, which of the op's operands it is
   * @param scratch bytes of {@link Execution#scratchBytes}
   */
  OpPlan(Key key, Plan plan, int[] slots, long scratch) {
    this.key = key;
    this.plan = plan;
    kernels = Execution.kernels(plan);
    this.slots = slots;
    this.scratch = scratch;
  }

  /** Bytes of the result. */
  long bytes() {
    return (long) key.shape().elements() * key.type().bytes();
  }

  int[] slots() {
    return slots;
  }

  /** Bytes that a run needs besides operands and result. */
  long workspace() {
    return plan.arenaBytes() + scratch;
  }

  /** Nanoseconds of a run, a moving average that weighs the newest run 1/4; 0 before the first. */
  double nanos() {
    return nanos;
  }

  /** Runs it; all addresses are absolute. For one thread at a time. */
  void run(Workers workers, long[] operands, long workspace, long result) {
    Execution execution =
        new Execution(
            plan,
            kernels,
            workers,
            new Execution.Addresses(operands, workspace, workspace + plan.arenaBytes(), result));
    long start = System.nanoTime();
    execution.run();
    double took = System.nanoTime() - start;
    nanos = nanos == 0 ? took : nanos + NEWEST * (took - nanos);
  }

  @Override
  public String toString() {
    return key.op() + " " + key.type() + key.shape();
  }
}
