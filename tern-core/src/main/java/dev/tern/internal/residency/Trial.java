package dev.tern.internal.residency;

/** One run of a recorded step under a budget: nothing is computed, time and memory are counted. */
public final class Trial {
  /** How a run ended. */
  public enum Status {
    /** All was computed. */
    OK,
    /** Recomputation passed the limit. */
    THRASH,
    /** An op and its inputs did not fit. */
    OOM
  }

  private final Status status;
  private final double time;

  private Trial(Status status, double time) {
    this.status = status;
    this.time = time;
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
   * @param limit the most time it may take, recomputation included
   */
  public static Trial run(
      Step step, Space space, Policy policy, Foresight foresight, double limit) {
    return run(step, space, policy, foresight, Watcher.NONE, limit);
  }

  static Trial run(
      Step step, Space space, Policy policy, Foresight foresight, Watcher watcher, double limit) {
    Recipes recipes = new Recipes();
    double[] time = new double[1];
    Residency residency =
        new Residency(
            recipes,
            space,
            policy,
            foresight,
            (op, _) -> {
              time[0] += recipes.cost(op);
              if (time[0] > limit) {
                throw new LimitPassed();
              }
            },
            watcher);
    try {
      step.replay(residency, recipes);
      return new Trial(Status.OK, time[0]);
    } catch (LimitPassed e) {
      return new Trial(Status.THRASH, time[0]);
    } catch (NoRoomException e) {
      return new Trial(Status.OOM, time[0]);
    }
  }

  /** How it ended. */
  public Status status() {
    return status;
  }

  /** Time of all runs of ops; infinite unless all was computed. */
  public double time() {
    return status == Status.OK ? time : Double.POSITIVE_INFINITY;
  }
}
