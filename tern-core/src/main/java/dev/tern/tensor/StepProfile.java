package dev.tern.tensor;

import java.util.List;

/**
 * What the memory of a {@link Computation} holds while it runs, and how long the steps of its last
 * run took.
 *
 * @param bytes of the memory
 * @param budget limit of the bytes; {@code Long.MAX_VALUE} for none
 * @param withoutBudget bytes that the memory would have without a limit
 * @param steps in the order in which they run
 * @param blocks places of values, in the order in which they are first filled
 */
public record StepProfile(
    long bytes, long budget, long withoutBudget, List<Step> steps, List<Block> blocks) {
  /**
   * One step.
   *
   * @param what the op with its sizes, or a fused kernel's expression
   * @param isAgain whether it computes a dropped value again
   * @param startNanos from the start of the run, and so {@code endNanos}
   * @param sources where its ops were written; empty unless {@link SourceLines} recorded them
   */
  public record Step(
      String what, boolean isAgain, long startNanos, long endNanos, List<Source> sources) {
    public Step {
      sources = List.copyOf(sources);
    }
  }

  /**
   * Ops that were written in one place.
   *
   * @param ops their names, in the order of the program
   * @param lines such as {@code Linear.java:30}: the innermost first, then its callers
   * @param isGradient whether they belong to the gradient of what is written there
   */
  public record Source(List<String> ops, List<String> lines, boolean isGradient) {
    public Source {
      ops = List.copyOf(ops);
      lines = List.copyOf(lines);
    }
  }

  /**
   * Values in one place.
   *
   * @param maker number of the step that fills it
   * @param isScratch whether only the inside of steps uses it
   * @param offset of its first byte
   * @param from number of the first step during which it is there
   * @param to one past the number of the last such step
   */
  public record Block(int maker, boolean isScratch, long offset, long bytes, int from, int to) {}

  public StepProfile {
    steps = List.copyOf(steps);
    blocks = List.copyOf(blocks);
  }

  /** The first step during which blocks have the most bytes; 0 without blocks. */
  public int peakStep() {
    int peak = 0;
    long most = -1;
    for (int step = 0; step < steps.size(); step++) {
      long live = liveBytes(step);
      if (live > most) {
        most = live;
        peak = step;
      }
    }
    return peak;
  }

  /** Bytes of the blocks that are there during a step. */
  public long liveBytes(int step) {
    return blocks.stream()
        .filter(block -> block.from() <= step && step < block.to())
        .mapToLong(Block::bytes)
        .sum();
  }

  /** Share of the last run's time in steps that compute again, 0 to 1. */
  public double shareAgain() {
    long all = 0;
    long again = 0;
    for (Step step : steps) {
      long nanos = step.endNanos() - step.startNanos();
      all += nanos;
      again += step.isAgain() ? nanos : 0;
    }
    return all == 0 ? 0 : (double) again / all;
  }
}
