package dev.tern.internal.runtime;

import dev.tern.internal.memory.BlockArena;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Learns from a recorded step how to run an equal one within a budget: tries policies on the
 * record, has the lives of storages placed in the arena ahead, and keeps what cost least on real
 * addresses.
 */
public final class Rehearsal {
  /** Shares of the budget left free for gaps between places, tried in this order. */
  private static final double[] SLACK = {0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.03, 0.06};

  private static final double[] MARGINS = {1, 1.03, 1.06, 1.12, 1.25, 1.5, 2, 3, 5};
  private static final double KEPT = 1e6;
  private static final int FINALISTS = 4;

  private final StepFacts facts;
  private final long budget;
  private final double limit;
  private Guide best = new Guide(Policy.H_DTR_EQ, Foresight.NONE, Double.POSITIVE_INFINITY);
  private double bound;

  /**
   * What was learned.
   *
   * @param policy whom to follow
   * @param foresight what it is told
   * @param time of the step when rehearsed; infinite where nothing fitted
   */
  public record Guide(Policy policy, Foresight foresight, double time) {}

  private record Candidate(Policy policy, boolean[] isKept, double time) {}

  private Rehearsal(StepFacts facts, long budget, double limit) {
    this.facts = facts;
    this.budget = budget;
    this.limit = limit;
  }

  /** The best way found among the policies that know when storages are next used. */
  public static Guide learn(Step step, long budget, double limit) {
    Rehearsal rehearsal = new Rehearsal(new StepFacts(step), budget, limit);
    rehearsal.tryAll(List.of(new boolean[0]), Variants.LEARNED);
    return rehearsal.best;
  }

  /** The best way found when what to keep at the peak is chosen too; not worse than learned. */
  public static Guide plan(Step step, long budget, double limit) {
    Rehearsal rehearsal = new Rehearsal(new StepFacts(step), budget, limit);
    rehearsal.tryAll(List.of(new boolean[0]), Variants.LEARNED);
    List<boolean[]> sets = new ArrayList<>();
    for (KeepSets.KeepSet set : new KeepSets(rehearsal.facts).forBudget(budget, MARGINS)) {
      rehearsal.bound = set.bound();
      sets.add(set.isKept());
    }
    rehearsal.tryAll(sets, Variants.PLANNED);
    return rehearsal.best;
  }

  private void tryAll(List<boolean[]> keepSets, List<Policy> policies) {
    List<Candidate> candidates = new ArrayList<>();
    double cut = Math.min(limit, best.time());
    for (boolean[] isKept : keepSets) {
      for (Policy policy : policies) {
        Trial trial = count(policy, isKept, budget, Residency.Watcher.NONE, cut);
        if (trial.status() == Trial.Status.OK) {
          candidates.add(new Candidate(policy, isKept, trial.time()));
          candidates.sort(Comparator.comparingDouble(Candidate::time));
          if (candidates.size() > FINALISTS) {
            candidates.removeLast();
            cut = candidates.getLast().time();
          }
        }
      }
    }
    candidates.forEach(this::refine);
  }

  /** Leaves more and more room for gaps until all places fit. */
  private void refine(Candidate candidate) {
    long least = Long.MAX_VALUE;
    long[][] nearest = new long[0][];
    for (double slack : SLACK) {
      Lifetimes lives = new Lifetimes();
      long room = (long) (budget * (1 - slack));
      double cut = Math.min(limit, best.time());
      Trial trial = count(candidate.policy, candidate.isKept, room, lives, cut);
      if (trial.status() != Trial.Status.OK) {
        break;
      }
      long[][] places = lives.place(budget);
      if (lives.reach() < least) {
        least = lives.reach();
        nearest = places;
      }
      if (least <= budget) {
        break;
      }
    }
    tryPlaces(candidate, nearest);
  }

  /** Runs a candidate on real addresses. */
  private void tryPlaces(Candidate candidate, long[][] places) {
    Known known = new Known(facts, candidate.isKept, places);
    Space space = new Space.Placed(new BlockArena(budget), known);
    double cut = Math.min(limit, best.time());
    Trial trial =
        Trial.run(facts.step(), space, candidate.policy, known, Residency.Watcher.NONE, cut);
    if (trial.time() < best.time()) {
      best = new Guide(candidate.policy, known, trial.time());
    }
  }

  private Trial count(
      Policy policy, boolean[] isKept, long room, Residency.Watcher watcher, double cut) {
    Known known = new Known(facts, isKept, new long[0][]);
    return Trial.run(facts.step(), new Space.Counted(room), policy, known, watcher, cut);
  }

  private record Known(StepFacts facts, boolean[] isKept, long[][] places) implements Foresight {
    @Override
    public double weight(int storage) {
      return storage < isKept.length && isKept[storage] ? KEPT : 1;
    }

    @Override
    public double nextUse(int storage, int op) {
      return facts.nextUse(storage, op);
    }

    @Override
    public double time(int op) {
      return facts.time(op);
    }

    @Override
    public long offset(int storage, int life) {
      boolean known =
          storage < places.length && places[storage] != null && life < places[storage].length;
      return known ? places[storage][life] : ANYWHERE;
    }
  }
}
