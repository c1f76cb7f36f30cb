package dev.tern.internal.remat;

import dev.tern.internal.memory.BlockArena;
import java.util.Optional;

/**
 * Plans a recorded step with full knowledge of it: decides for every use of a storage whether it
 * stays to the next, by {@link Annealing} from several starts, and then finds a place for every
 * life of a storage. Where there are no such places the search goes on with a little less memory.
 */
final class RetentionSearch {
  /** Shares of the budget left free for gaps between places, tried in this order. */
  private static final double[] SLACK = {
    0, 0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06
  };

  private static final double[] MARGINS = {0.9, 0.94, 0.97, 1, 1.03, 1.06, 1.12, 1.25, 1.5};

  /** How many runs of ops are counted for each start, from the best of them, and for each slack. */
  private static final long START_RUNS = 4_000_000;

  private static final long RUNS = 60_000_000;
  private static final long SLACK_RUNS = 10_000_000;

  private static final double LEAST_GAIN = 1e-5;

  private static final Policy POLICY =
      new Policy("planned", Policy.Neighbourhood.OWN, 1, 1, 1, true);

  private final TraceUses facts;
  private final long budget;
  private final double once;
  private final Retention retention;
  private final Annealing annealing;

  private RetentionSearch(TraceUses facts, long budget) {
    this.facts = facts;
    this.budget = budget;
    once = facts.step().cost();
    retention = new Retention(facts);
    annealing = new Annealing(retention, budget);
  }

  /** A way to run a step in less time than one that is known, if one is found. */
  static Optional<ScheduleSearch.Guide> after(
      TraceUses facts, long budget, ScheduleSearch.Guide known) {
    double least = facts.step().cost() + new KeepSets(facts).leastRecomputation(budget);
    if (!Retention.suits(facts.step())
        || Double.isInfinite(least)
        || known.time() * (1 - LEAST_GAIN) <= least) {
      return Optional.empty();
    }
    return new RetentionSearch(facts, budget).search(known);
  }

  private Optional<ScheduleSearch.Guide> search(ScheduleSearch.Guide known) {
    Annealing.Choice choice = annealing.explore(bestStart(known).decisions(), budget, RUNS);
    for (double slack : SLACK) {
      long room = (long) (budget * (1 - slack));
      if (slack > 0) {
        choice = annealing.refine(choice.decisions(), room, SLACK_RUNS);
      }
      if (once + choice.again() >= known.time()) {
        continue;
      }
      Optional<ScheduleSearch.Guide> placed = place(choice.decisions());
      if (placed.isPresent() && placed.get().time() < known.time()) {
        return placed;
      }
    }
    return Optional.empty();
  }

  private Annealing.Choice bestStart(ScheduleSearch.Guide known) {
    Annealing.Choice best =
        annealing.refine(
            RetentionObserver.of(
                retention, placed(known.foresight()), known.policy(), known.foresight()),
            budget,
            START_RUNS);
    for (boolean[] isKept : new KeepSets(facts).forBudget(budget, MARGINS)) {
      Annealing.Choice choice = annealing.refine(annealing.keeping(isKept), budget, START_RUNS);
      best = choice.again() < best.again() ? choice : best;
    }
    return best;
  }

  private StorageMemory placed(Foresight foresight) {
    return new StorageMemory.Placed(new BlockArena(budget), foresight);
  }

  /** Finds places and runs the step with them; empty where there are none. */
  private Optional<ScheduleSearch.Guide> place(boolean[] decisions) {
    int[][] drops = retention.drops(decisions);
    double[] weights = new double[0];
    LifetimeRecorder script = new LifetimeRecorder(facts.recipes());
    PlannedForesight counted =
        new PlannedForesight(
            facts, weights, new long[0][], Long.MAX_VALUE, PlannedForesight.Drops.after(drops));
    StorageMemory space = new StorageMemory.Counted(budget);
    Simulation.run(
        facts.step(), space, POLICY, counted, script, Double.POSITIVE_INFINITY, Long.MAX_VALUE);
    long[][] places = script.place(budget);
    if (script.reach() > budget) {
      return Optional.empty();
    }
    PlannedForesight known =
        new PlannedForesight(facts, weights, places, Long.MAX_VALUE, script.drops());
    Simulation trial =
        Simulation.run(facts.step(), placed(known), POLICY, known, Double.POSITIVE_INFINITY);
    return Optional.of(new ScheduleSearch.Guide(POLICY, known, trial.time()));
  }
}
