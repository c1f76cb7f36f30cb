package dev.tern.internal.remat.search;

import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.Foresight;
import dev.tern.internal.remat.Guide;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Simulation;
import dev.tern.internal.remat.StorageListener;
import dev.tern.internal.remat.StorageMemory;
import java.util.Optional;

/**
 * Decides for every use of a storage whether the storage stays until the next use, by {@link
 * Annealing} from several starts. Then it finds a place for every lifetime. Where there are no such
 * places, the search continues with a little less memory.
 */
final class RetentionSearch {
  /** Shares of the budget left free for gaps between places, tried in this order. */
  private static final double[] SLACK = {
    0, 0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06
  };

  private static final double[] MARGINS = {0.9, 0.94, 0.97, 1, 1.03, 1.06, 1.12, 1.25, 1.5};

  // How many runs of ops are counted for each start, from the best start, and for each slack.
  private static final long START_RUNS = 4_000_000;
  private static final long RUNS = 60_000_000;
  private static final long SLACK_RUNS = 10_000_000;

  private static final double LEAST_GAIN = 1e-5;

  private static final Policy POLICY =
      new Policy("planned", Policy.Neighbourhood.OWN, 1, 1, 1, true);

  private final TraceUses uses;
  private final long budget;
  private final SearchTimer timer;
  private final double begun;
  private final int round;
  private final double once;
  private final double least;
  private final Retention retention;
  private final Annealing annealing;

  private RetentionSearch(TraceUses uses, long budget, SearchTimer timer, int round) {
    this.uses = uses;
    this.budget = budget;
    this.timer = timer;
    this.round = round;
    begun = timer.elapsed();
    once = uses.trace().cost();
    least = once + new KeepSets(uses).leastRecomputation(budget);
    retention = new Retention(uses);
    annealing = new Annealing(retention, budget, timer, round);
  }

  /**
   * The known way to run a step, or one in less time if it finds one.
   *
   * @param round each round searches twice as long as the one before, by other random numbers
   */
  static Guide improve(Guide known, TraceUses uses, SearchTimer timer, int round) {
    return Double.isFinite(known.time()) && Retention.suits(uses.trace())
        ? new RetentionSearch(uses, known.budget(), timer, round).improve(known)
        : known;
  }

  private Guide improve(Guide known) {
    if (Double.isFinite(least) && known.time() * (1 - LEAST_GAIN) <= least) {
      return known;
    }
    boolean[] start = bestStart(known).decisions();
    Annealing.Choice choice = annealing.explore(start, budget, affordable(RUNS, 0.6));
    for (double slack : SLACK) {
      long room = (long) (budget * (1 - slack));
      if (slack > 0) {
        if (timer.isOver()) {
          break;
        }
        choice = annealing.refine(choice.decisions(), room, affordable(SLACK_RUNS, 0.1));
      }
      if (once + choice.again() >= known.time()) {
        continue;
      }
      Optional<Guide> placed = place(choice.decisions());
      if (placed.isPresent() && placed.get().time() < known.time()) {
        return placed.get();
      }
    }
    return known;
  }

  private long affordable(long runs, double share) {
    return timer.affordable(runs << round, share, retention.runs(), begun);
  }

  private Annealing.Choice bestStart(Guide known) {
    boolean[] observed = RetentionObserver.of(retention, placed(known.foresight()), known);
    Annealing.Choice best = annealing.refine(observed, budget, START_RUNS);
    for (boolean[] isKept : new KeepSets(uses).forBudget(budget, MARGINS)) {
      if (timer.isOver()) {
        break;
      }
      Annealing.Choice choice = annealing.refine(annealing.keeping(isKept), budget, START_RUNS);
      best = choice.again() < best.again() ? choice : best;
    }
    return best;
  }

  private StorageMemory placed(Foresight foresight) {
    return new StorageMemory.Placed(new BlockArena(budget), foresight);
  }

  /** Finds places and runs the step with them; empty where there are none. */
  private Optional<Guide> place(boolean[] decisions) {
    double[] weights = new double[0];
    LifetimeRecorder recorder = new LifetimeRecorder(uses.recipes());
    PlannedForesight counted =
        new PlannedForesight(
            uses,
            weights,
            new long[0][],
            Long.MAX_VALUE,
            PlannedForesight.Drops.after(retention.drops(decisions)));
    simulate(new StorageMemory.Counted(budget), counted, recorder);
    long[][] places = recorder.place(budget);
    if (recorder.reach() > budget) {
      return Optional.empty();
    }
    PlannedForesight known =
        new PlannedForesight(uses, weights, places, Long.MAX_VALUE, recorder.drops());
    double time = simulate(placed(known), known, StorageListener.NONE);
    return Optional.of(new Guide(POLICY, known, budget, time));
  }

  private double simulate(
      StorageMemory memory, PlannedForesight foresight, StorageListener listener) {
    Guide guide = new Guide(POLICY, foresight, budget, Double.POSITIVE_INFINITY);
    return Simulation.run(uses.trace(), memory, guide, listener, Simulation.Limits.NONE).time();
  }
}
