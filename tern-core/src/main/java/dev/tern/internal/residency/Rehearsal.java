package dev.tern.internal.residency;

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
  private static final double[] SLACK = {
    0, 0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.065, 0.08, 0.1
  };

  private static final double[] MARGINS = {1, 1.03, 1.06, 1.12, 1.25, 1.5, 2, 3, 5};
  private static final double KEPT = 1e6;
  private static final int KEPT_CANDIDATES = 16;
  private static final double LEAST_GAIN = 1e-5;

  private final StepFacts facts;
  private final long budget;
  private final double limit;
  private final int finalists;
  private Guide best = new Guide(Policy.H_DTR_EQ, Foresight.NONE, Double.POSITIVE_INFINITY);

  /**
   * What was learned.
   *
   * @param policy whom to follow
   * @param foresight what it is told
   * @param time of the step when rehearsed; infinite where nothing fitted
   */
  public record Guide(Policy policy, Foresight foresight, double time) {}

  private record Candidate(Policy policy, boolean[] isKept, double time) {}

  private Rehearsal(StepFacts facts, long budget, double limit, int finalists) {
    this.facts = facts;
    this.budget = budget;
    this.limit = limit;
    this.finalists = finalists;
  }

  /** The best way found with a moderate search, as between two steps of training. */
  public static Guide learn(Step step, long budget, double limit) {
    return search(step, budget, limit, 4).best;
  }

  /** The best way found with a longer search; not worse than what is learned. */
  public static Guide plan(Step step, long budget, double limit) {
    Rehearsal learned = search(step, budget, limit, 4);
    Rehearsal planned = search(step, budget, limit, 10);
    return planned.best.time() < learned.best.time() ? planned.best : learned.best;
  }

  /**
   * A time below which no schedule can run the step within a budget; infinite where an op does not
   * fit with what must stay. It looks at the moment of most memory alone, so the best schedule may
   * take longer.
   */
  public static double bound(Step step, long budget) {
    return step.cost() + new KeepSets(new StepFacts(step)).leastRecomputation(budget);
  }

  private static Rehearsal search(Step step, long budget, double limit, int finalists) {
    Rehearsal rehearsal = new Rehearsal(new StepFacts(step), budget, limit, finalists);
    List<boolean[]> sets = new KeepSets(rehearsal.facts).forBudget(budget, MARGINS);
    rehearsal.tryAll(sets, Variants.PLANNED);
    rehearsal.tryAll(List.of(new boolean[0]), Variants.LEARNED);
    return rehearsal;
  }

  /** Leaves more and more room for gaps between places, until that costs more than it helps. */
  private void tryAll(List<boolean[]> keepSets, List<Policy> policies) {
    List<Candidate> candidates = new ArrayList<>();
    for (boolean[] isKept : keepSets) {
      policies.forEach(policy -> candidates.add(new Candidate(policy, isKept, 0)));
    }
    for (double slack : SLACK) {
      long room = (long) (budget * (1 - slack));
      List<Candidate> timed = time(candidates, room);
      if (timed.isEmpty()) {
        return;
      }
      timed.stream().limit(finalists).forEach(candidate -> refine(candidate, room));
      candidates.clear();
      candidates.addAll(timed.subList(0, Math.min(timed.size(), KEPT_CANDIDATES)));
    }
  }

  /** The candidates that beat what is known, best first. */
  private List<Candidate> time(List<Candidate> candidates, long room) {
    List<Candidate> timed = new ArrayList<>();
    double cut = Math.min(limit, best.time() * (1 - LEAST_GAIN));
    for (Candidate candidate : candidates) {
      Trial trial = count(candidate.policy, candidate.isKept, room, Watcher.NONE, cut);
      if (trial.status() == Trial.Status.OK) {
        timed.add(new Candidate(candidate.policy, candidate.isKept, trial.time()));
        timed.sort(Comparator.comparingDouble(Candidate::time));
        if (timed.size() >= KEPT_CANDIDATES) {
          cut = Math.min(cut, timed.get(KEPT_CANDIDATES - 1).time());
        }
      }
    }
    return timed;
  }

  private void refine(Candidate candidate, long room) {
    double cut = Math.min(limit, best.time());
    if (candidate.time >= cut) {
      return;
    }
    Lifetimes lives = new Lifetimes();
    count(candidate.policy, candidate.isKept, room, lives, cut);
    tryPlaces(candidate, lives.place(budget));
  }

  /** Runs a candidate on real addresses. */
  private void tryPlaces(Candidate candidate, long[][] places) {
    Known known = new Known(facts, candidate.isKept, places);
    Space space = new Space.Placed(new BlockArena(budget), known);
    double cut = Math.min(limit, best.time());
    Trial trial = Trial.run(facts.step(), space, candidate.policy, known, cut);
    if (trial.time() < best.time()) {
      best = new Guide(candidate.policy, known, trial.time());
    }
  }

  private Trial count(Policy policy, boolean[] isKept, long room, Watcher watcher, double cut) {
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
