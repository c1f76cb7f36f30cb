package dev.tern.internal.runtime;

import dev.tern.internal.plan.Plan;

/** A plan bound to memory, on the processor or on an accelerator. For one thread at a time. */
public interface PlanExecution {
  /** Computes outputs and stores updates. */
  void run();

  Plan plan();

  /** Address, in the host's memory, of output {@code index}, dense; valid until the next run. */
  long output(int index);

  long runs();

  /** Nanoseconds of each step of the plan, in all runs together. */
  long[] nanos();

  /** When each step of the last run began and the last step ended: nanoseconds from its start. */
  long[] lastRun();

  /** How far the code of a step's kernel is; empty for a step without a kernel. */
  String state(int step);

  /** Whether code is being made ready, and slower code serves. */
  boolean isPending();

  /**
   * Waits for that code, 4 seconds at most, where a run is much arithmetic.
   *
   * @param often whether many runs will follow the first
   */
  void awaitVectorCode(boolean often);
}
