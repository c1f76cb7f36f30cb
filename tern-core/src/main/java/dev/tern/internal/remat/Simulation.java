package dev.tern.internal.remat;

/** One run of a recorded step under a budget: nothing is computed, time and memory are counted. */
public final class Simulation {
  /** How a run ended. */
  public enum Status {
    /** All was computed. */
    OK,
    /** Recomputation passed the limit. */
    THRASH,
    /** An op and its inputs did not fit. */
    OOM
  }

  /** To run an op takes about as long as to look at so many storages. */
  private static final long RUN_WORK = 20;

  private final Status status;
  private final double time;
  private final String reason;
  private final long work;

  private Simulation(Status status, double time, String reason, long work) {
    this.status = status;
    this.time = time;
    this.reason = reason;
    this.work = work;
  }

  /** What a run took so far. */
  private static final class Meter {
    long runs;
    double again;
  }

  /** Ends a run that takes too long. */
  private static final class LimitPassed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LimitPassed() {
      super("limit", null, false, false);
    }
  }

  /**
   * Runs a step.
   *
   * @param limit the most time it may take, recomputation included; a run ends as soon as what it
   *     recomputed leaves too little for the rest
   */
  public static Simulation run(
      Trace step, StorageMemory space, Policy policy, Foresight foresight, double limit) {
    return run(step, space, policy, foresight, StorageListener.NONE, limit, Long.MAX_VALUE);
  }

  /** The same; it ends also when decisions took more than {@code mostWork}. */
  static Simulation run(
      Trace step,
      StorageMemory space,
      Policy policy,
      Foresight foresight,
      StorageListener watcher,
      double limit,
      long mostWork) {
    Recipes recipes = new Recipes();
    double once = step.cost();
    Meter meter = new Meter();
    Residency[] itself = new Residency[1];
    itself[0] =
        new Residency(
            recipes,
            space,
            policy,
            foresight,
            (op, again) -> {
              meter.runs++;
              meter.again += again ? recipes.cost(op) : 0;
              if (once + meter.again > limit || itself[0].work() > mostWork) {
                throw new LimitPassed();
              }
            },
            watcher);
    Status status = Status.OK;
    String reason = "";
    try {
      step.replay(itself[0], recipes);
    } catch (LimitPassed e) {
      status = Status.THRASH;
    } catch (NoRoomException e) {
      status = Status.OOM;
      reason = String.valueOf(e.getMessage());
    }
    double time = status == Status.OK ? once + meter.again : Double.POSITIVE_INFINITY;
    return new Simulation(status, time, reason, itself[0].work() + RUN_WORK * meter.runs);
  }

  /** How it ended. */
  public Status status() {
    return status;
  }

  /** Time of all runs of ops; infinite unless all was computed. */
  public double time() {
    return time;
  }

  /** The error where something did not fit, else empty. */
  public String reason() {
    return reason;
  }

  /** How much there was to do, in storages looked at. */
  long work() {
    return work;
  }
}
