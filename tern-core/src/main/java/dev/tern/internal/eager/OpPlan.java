package dev.tern.internal.eager;

import dev.tern.base.Workers;
import dev.tern.internal.kernel.CompiledKernel;
import dev.tern.internal.plan.Plan;
import dev.tern.internal.runtime.Execution;
import java.util.List;
import java.util.Optional;

/** The plan of one op on operands of known sizes, and what a run of it takes. */
final class OpPlan {
  private static final double NEWEST = 0.25;

  private final Plan plan;
  private final List<Optional<CompiledKernel>> kernels;
  private final int[] slots;
  private final long scratch;
  private double nanos;

  /**
   * @param slots by leaf of the plan, which of the op's operands it is
   * @param scratch bytes of {@link Execution#scratchBytes}
   */
  OpPlan(Plan plan, int[] slots, long scratch) {
    this.plan = plan;
    kernels = Execution.kernels(plan);
    this.slots = slots;
    this.scratch = scratch;
  }

  /** By leaf of the plan, which of the op's operands it is. */
  int[] slots() {
    return slots;
  }

  /** Bytes it needs while it runs, besides operands and result. */
  long workspace() {
    return plan.arenaBytes() + scratch;
  }

  /** What a run takes, as far as measured: the latest runs count most. */
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
}
