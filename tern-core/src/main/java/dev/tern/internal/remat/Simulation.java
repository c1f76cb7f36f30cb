package dev.tern.internal.remat;

/**
 * One run of a recorded step under a budget: nothing is computed, time and memory are counted.
 *
 * @param time of all runs of ops; infinite unless all was computed
 * @param reason the error where something did not fit, else empty
 * @param work the effort of the simulation, in storages looked at
 */
public record Simulation(Status status, double time, String reason, long work) {
  /** How a run ended. */
  public enum Status {
    /** All was computed. */
    OK,
    /** Recomputation passed the limit. */
    THRASH,
    /** An op and its inputs did not fit. */
    OOM
  }

  /** The run of an op takes about as long as a look at so many storages. */
  private static final long RUN_WORK = 20;

  /**
   * When a run is given up.
   *
   * @param time the most that it may take, recomputation included
   * @param work the most that its decisions may take, in storages looked at
   */
  public record Limits(double time, long work) {
    public static final Limits NONE = new Limits(Double.POSITIVE_INFINITY, Long.MAX_VALUE);
  }

  private static final class Meter {
    long runs;
    double again;
  }

  private static final class LimitPassed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LimitPassed() {
      super("limit", null, false, false);
    }
  }

  /**
   * Runs a trace.
   *
   * @param limit the most time it may take, recomputation included. The run ends as soon as the
   *     time of recomputation leaves too little for the rest
   */
  public static Simulation run(
      Trace trace, StorageMemory memory, Policy policy, Foresight foresight, double limit) {
    Guide guide = new Guide(policy, foresight, memory.capacity(), limit);
    return run(trace, memory, guide, StorageListener.NONE, new Limits(limit, Long.MAX_VALUE));
  }

  /** Runs a trace by a guide, watched by a listener. */
  public static Simulation run(
      Trace trace, StorageMemory memory, Guide guide, StorageListener listener, Limits limits) {
    Recipes recipes = new Recipes();
    double once = trace.cost();
    Meter meter = new Meter();
    Residency[] itself = new Residency[1];
    itself[0] =
        new Residency(
            recipes,
            memory,
            guide,
            (op, again) -> {
              meter.runs++;
              meter.again += again ? recipes.cost(op) : 0;
              if (once + meter.again > limits.time || itself[0].work() > limits.work) {
                throw new LimitPassed();
              }
            },
            listener);
    Status status = Status.OK;
    String reason = "";
    try {
      trace.replay(itself[0], recipes);
    } catch (LimitPassed e) {
      status = Status.THRASH;
    } catch (NoRoomException e) {
      status = Status.OOM;
      reason = String.valueOf(e.getMessage());
    }
    double time = status == Status.OK ? once + meter.again : Double.POSITIVE_INFINITY;
    return new Simulation(status, time, reason, itself[0].work() + RUN_WORK * meter.runs);
  }
}
