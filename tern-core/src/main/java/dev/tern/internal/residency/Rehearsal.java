package dev.tern.internal.residency;

import dev.tern.internal.memory.BlockArena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Learns from a recorded step how to run an equal one within a budget: tries policies and sets of
 * storages to keep on the record, has the lives of storages placed in the arena ahead, and keeps
 * what cost least on real addresses.
 *
 * <p>A rehearsal that only counts bytes is first held to the whole budget, then to less and less of
 * it, until all lives find places. A run that is held to the same bytes then does what was
 * rehearsed; one that is not may do with less recomputation where places allow.
 */
public final class Rehearsal {
  /** Shares of the budget left free for gaps between places, tried in this order. */
  private static final double[] SLACK = {
    0, 0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.065, 0.08, 0.1
  };

  private static final double[] MARGINS = {1, 1.03, 1.06, 1.12, 1.25, 1.5, 2, 3, 5};
  private static final double[] SHARES = {1, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.12};
  private static final double KEPT = 1e6;
  private static final double[] WEIGHTS = {1e-3, 0.1, 1, 10, KEPT};
  private static final long SMALL = 5_000;
  private static final double LEAST_GAIN = 1e-5;
  private static final int FINALISTS = 4;
  private static final int MORE_FINALISTS = 10;

  /** How many candidates stay for each finalist. */
  private static final int CANDIDATES = 4;

  /** How long to search, in storages and lives looked at; a thousand million take some seconds. */
  private static final long WORK = 2_000_000_000;

  private static final long MORE_WORK = 4 * WORK;
  private static final long LITTLE_WORK = WORK / 8;

  /** Shares of the work after which no more candidates are timed, and none placed. */
  private static final double TIMED = 0.4;

  private static final double PLACED = 0.7;
  private static final int PATIENCE = 300;

  private final StepFacts facts;
  private final long budget;
  private final double limit;
  private Guide best = new Guide(Policy.H_DTR_EQ, Foresight.NONE, Double.POSITIVE_INFINITY);
  private Candidate bestCandidate = new Candidate(Policy.H_DTR_EQ, new double[0], 0);
  private long bestRoom;
  private long work;

  /**
   * What was learned.
   *
   * @param policy whom to follow
   * @param foresight what it is told
   * @param time of the step when rehearsed; infinite where nothing fitted
   */
  public record Guide(Policy policy, Foresight foresight, double time) {}

  /** What to try. */
  private record Candidate(Policy policy, double[] weights, double time) {}

  private Rehearsal(StepFacts facts, long budget, double limit) {
    this.facts = facts;
    this.budget = budget;
    this.limit = limit;
    bestRoom = budget;
  }

  /** The best of a few ways, which suit chains and steps like them; quick for long steps too. */
  static Guide sketch(Step step, long budget, double limit) {
    Rehearsal rehearsal = new Rehearsal(new StepFacts(step), budget, limit);
    List<Candidate> candidates = new ArrayList<>();
    List<boolean[]> sets = new Segments(rehearsal.facts).forBudget(budget, 1, 0.65);
    add(sets, Variants.SEGMENTED.subList(0, 1), candidates);
    rehearsal.searchAll(candidates, 1, WORK);
    return rehearsal.best;
  }

  /** The best way found in the time that one may wait before a training starts. */
  static Guide prepare(Step step, long budget, double limit) {
    return search(step, budget, limit, FINALISTS, LITTLE_WORK);
  }

  /** The best way found with a moderate search, as between two steps of training. */
  public static Guide learn(Step step, long budget, double limit) {
    return search(step, budget, limit, FINALISTS, WORK);
  }

  /** The best way found with a longer search; not worse than what is learned. */
  public static Guide plan(Step step, long budget, double limit) {
    Guide learned = learn(step, budget, limit);
    Guide planned = search(step, budget, limit, MORE_FINALISTS, MORE_WORK);
    return planned.time() < learned.time() ? planned : learned;
  }

  /**
   * A time below which no schedule can run the step within a budget; infinite where an op does not
   * fit with what must stay. It looks at the moment of most memory alone, so the best schedule may
   * take longer.
   */
  public static double bound(Step step, long budget) {
    return step.cost() + new KeepSets(new StepFacts(step)).leastRecomputation(budget);
  }

  private static Guide search(Step step, long budget, double limit, int finalists, long work) {
    Rehearsal rehearsal = new Rehearsal(new StepFacts(step), budget, limit);
    rehearsal.searchAll(rehearsal.candidates(), finalists, work);
    rehearsal.improve(work);
    return rehearsal.best;
  }

  private List<Candidate> candidates() {
    List<Candidate> all = new ArrayList<>();
    add(new Segments(facts).forBudget(budget, SHARES), Variants.SEGMENTED, all);
    add(new KeepSets(facts).forBudget(budget, MARGINS), Variants.PLANNED, all);
    add(List.of(new boolean[0]), Variants.LEARNED, all);
    all.sort(Comparator.comparing(candidate -> candidate.policy.neighbourhood().work()));
    return all;
  }

  private static void add(List<boolean[]> sets, List<Policy> policies, List<Candidate> to) {
    for (boolean[] isKept : sets) {
      double[] weights = new double[isKept.length];
      for (int storage = 0; storage < weights.length; storage++) {
        weights[storage] = isKept[storage] ? KEPT : 1;
      }
      policies.forEach(policy -> to.add(new Candidate(policy, weights, 0)));
    }
  }

  /** Leaves more and more room for gaps between places, until the best find all of theirs. */
  private void searchAll(List<Candidate> all, int finalists, long most) {
    List<Candidate> candidates = all;
    for (double slack : SLACK) {
      long room = (long) (budget * (1 - slack));
      candidates = fastest(candidates, room, CANDIDATES * finalists, (long) (TIMED * most));
      List<Candidate> settled = new ArrayList<>();
      for (Candidate candidate : candidates.subList(0, Math.min(finalists, candidates.size()))) {
        if (work < PLACED * most && place(candidate, room)) {
          settled.add(candidate);
        }
      }
      candidates.removeAll(settled);
    }
  }

  /** Those by time alone that may be better than what is known, best first. */
  private List<Candidate> fastest(List<Candidate> candidates, long room, int number, long most) {
    List<Candidate> timed = new ArrayList<>();
    double cut = Math.min(limit, best.time * (1 - LEAST_GAIN));
    for (Candidate candidate : candidates) {
      boolean isTried = work < most || timed.isEmpty();
      double time = isTried ? count(candidate, room, Watcher.NONE, cut) : cut;
      if (time < cut) {
        timed.add(new Candidate(candidate.policy, candidate.weights, time));
        timed.sort(Comparator.comparingDouble(Candidate::time));
        if (timed.size() > number) {
          timed.removeLast();
          cut = timed.getLast().time;
        }
      }
    }
    return timed;
  }

  /** Tries places for the lives of a candidate that is held to {@code room} bytes. */
  private boolean place(Candidate candidate, long room) {
    double cut = Math.min(limit, best.time * (1 - LEAST_GAIN));
    Lifetimes lives = new Lifetimes();
    if (count(candidate, room, lives, cut) > cut) {
      return false;
    }
    long[][] places = lives.place(budget);
    work += lives.work();
    run(candidate, room, new Rehearsed(facts, candidate.weights, places, room));
    run(candidate, room, new Rehearsed(facts, candidate.weights, places, Long.MAX_VALUE));
    return lives.reach() <= budget;
  }

  /** Runs a candidate on real addresses. */
  private void run(Candidate candidate, long room, Rehearsed known) {
    double cut = Math.min(limit, best.time * (1 - LEAST_GAIN));
    Space space = new Space.Placed(new BlockArena(budget), known);
    Trial trial = Trial.run(facts.step(), space, candidate.policy, known, cut);
    work += trial.work();
    if (trial.time() < best.time) {
      best = new Guide(candidate.policy, known, trial.time());
      bestCandidate = candidate;
      bestRoom = room;
    }
  }

  /** Time of a candidate when bytes are only counted; infinite beyond {@code cut}. */
  private double count(Candidate candidate, long room, Watcher watcher, double cut) {
    Rehearsed known = new Rehearsed(facts, candidate.weights, new long[0][], room);
    Space space = new Space.Counted(room);
    Trial trial = Trial.run(facts.step(), space, candidate.policy, known, watcher, cut);
    work += trial.work();
    return trial.time();
  }

  /** Changes the weights of some storages at random and keeps what is faster. */
  private void improve(long most) {
    int[] storages = worthChanging();
    double enough = facts.step().cost() * (1 + LEAST_GAIN);
    SplittableRandom random = new SplittableRandom(1);
    int failures = storages.length > 0 && Double.isFinite(best.time) ? 0 : PATIENCE;
    while (failures < PATIENCE && work < most && best.time > enough) {
      double[] weights = Arrays.copyOf(bestCandidate.weights, facts.recipes().storages());
      Arrays.fill(weights, bestCandidate.weights.length, weights.length, 1);
      for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
        int changed = storages[random.nextInt(storages.length)];
        weights[changed] = WEIGHTS[random.nextInt(WEIGHTS.length)];
      }
      boolean isOther = random.nextInt(3) == 0;
      double slack = SLACK[random.nextInt(SLACK.length / 2)];
      double before = best.time;
      place(
          new Candidate(bestCandidate.policy, weights, 0),
          isOther ? (long) (budget * (1 - slack)) : bestRoom);
      failures = best.time < before ? 0 : failures + 1;
    }
  }

  /** Storages large enough to matter that may be evicted. */
  private int[] worthChanging() {
    Recipes recipes = facts.recipes();
    return IntStream.range(0, recipes.storages())
        .filter(storage -> recipes.bytes(storage) * SMALL >= budget)
        .filter(storage -> recipes.isRepeatable(recipes.maker(recipes.root(storage))))
        .toArray();
  }
}
