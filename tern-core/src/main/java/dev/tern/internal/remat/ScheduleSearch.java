package dev.tern.internal.remat;

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
public final class ScheduleSearch {
  /** Shares of the budget left free for gaps between places, tried in this order. */
  private static final double[] SLACK = {
    0, 0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.065, 0.08, 0.1, 0.125, 0.15
  };

  private static final double[] WEIGHTS = {1e-3, 0.1, 1, 10, SearchCandidate.KEPT};
  private static final long SMALL = 5_000;
  private static final double LEAST_GAIN = 1e-5;
  private static final int FINALISTS = 4;
  private static final int FEW_FINALISTS = 2;

  /** How many candidates stay for each finalist. */
  private static final int CANDIDATES = 4;

  /** How long to search, in storages and lives looked at; a thousand million take some seconds. */
  private static final long WORK = 300_000_000;

  private static final long LITTLE_WORK = 110_000_000;
  private static final long LEARNING_WORK = 75_000_000;

  /** Shares of the work after which no more candidates are timed, and none placed. */
  private static final double TIMED = 0.4;

  private static final double PLACED = 0.7;

  /** The share of the work up to which every slack is tried, promising or not. */
  private static final double FREE = 0.2;

  /** Places that reach further do not make the search skip more. */
  private static final double MOST_SPREAD = 1.1;

  /** What share of the slack that places lacked may do. */
  private static final double HOPE = 0.5;

  /** A trial that takes more than that is given up. */
  private static final long MOST_WORK_OF_TRIAL = 36_000_000;

  /** How many lives are looked at in the time of a storage. */
  private static final long LIVES_A_STORAGE = 4;

  private static final int PATIENCE = 300;

  private final TraceUses facts;
  private final long budget;
  private final double limit;
  private Guide best = new Guide(Policy.H_DTR_EQ, Foresight.NONE, Double.POSITIVE_INFINITY);
  private SearchCandidate bestCandidate = new SearchCandidate(Policy.H_DTR_EQ, new double[0], 0);
  private long bestRoom;

  /** How far places reached by the room that their lives were held to, in the last round. */
  private double leastSpread = 1;

  private long work;

  /**
   * What was learned.
   *
   * @param policy whom to follow
   * @param foresight what it is told
   * @param time of the step when rehearsed; infinite where nothing fitted
   */
  public record Guide(Policy policy, Foresight foresight, double time) {}

  private ScheduleSearch(TraceUses facts, long budget, double limit) {
    this.facts = facts;
    this.budget = budget;
    this.limit = limit;
    bestRoom = budget;
  }

  /** The best of a few ways, which suit chains and steps like them; quick for long steps too. */
  public static Guide sketch(Trace step, long budget, double limit) {
    ScheduleSearch rehearsal = new ScheduleSearch(new TraceUses(step), budget, limit);
    rehearsal.searchAll(SearchCandidate.few(rehearsal.facts, budget), 1, WORK);
    return rehearsal.best;
  }

  /**
   * The best way found in the time that one may wait before a training starts; in longer, where
   * none was found.
   */
  static Guide prepare(Trace step, long budget, double limit) {
    Guide quick = search(step, budget, limit, FINALISTS, LITTLE_WORK);
    return Double.isFinite(quick.time()) ? quick : search(step, budget, limit, FINALISTS, WORK);
  }

  /**
   * The best of some policies that know when each storage is used next: each runs the step once
   * with bytes only counted, and those that recompute least are placed. Takes about a second for
   * steps of some thousand ops, little enough for every new shape of a step.
   */
  public static Guide learn(Trace step, long budget, double limit) {
    ScheduleSearch rehearsal = new ScheduleSearch(new TraceUses(step), budget, limit);
    rehearsal.searchAll(SearchCandidate.learned(), FEW_FINALISTS, LEARNING_WORK);
    return rehearsal.best;
  }

  /**
   * The best way found in up to a minute with full knowledge of the step: policies, sets to keep at
   * the moment of most memory, and decisions for each use of each storage. Not worse than what is
   * learned.
   */
  public static Guide plan(Trace step, long budget, double limit) {
    Guide learned = learn(step, budget, limit);
    Guide searched = search(step, budget, limit, FINALISTS, WORK);
    Guide known = searched.time() < learned.time() ? searched : learned;
    return RetentionSearch.after(new TraceUses(step), budget, known).orElse(known);
  }

  /**
   * A time below which no schedule can run the step within a budget; infinite where an op does not
   * fit with what must stay. It looks at the moment of most memory alone, so the best schedule may
   * take longer.
   */
  public static double bound(Trace step, long budget) {
    return step.cost() + new KeepSets(new TraceUses(step)).leastRecomputation(budget);
  }

  private static Guide search(Trace step, long budget, double limit, int finalists, long work) {
    ScheduleSearch rehearsal = new ScheduleSearch(new TraceUses(step), budget, limit);
    rehearsal.searchAll(SearchCandidate.all(rehearsal.facts, budget), finalists, work);
    rehearsal.improve(work);
    return rehearsal.best;
  }

  /** Leaves more and more room for gaps between places, until the best find all of theirs. */
  private void searchAll(List<SearchCandidate> all, int finalists, long most) {
    List<SearchCandidate> candidates = all;
    for (double slack : SLACK) {
      if (work > most * FREE && slack < HOPE * (1 - 1 / leastSpread)) {
        continue;
      }
      leastSpread = MOST_SPREAD;
      long room = (long) (budget * (1 - slack));
      long timing = slack == 0 ? (long) (TIMED * most) : allowed(PLACED, most);
      candidates = fastest(candidates, room, CANDIDATES * finalists, timing);
      List<SearchCandidate> settled = new ArrayList<>();
      for (SearchCandidate candidate :
          candidates.subList(0, Math.min(finalists, candidates.size()))) {
        if (work < allowed(PLACED, most) && place(candidate, room)) {
          settled.add(candidate);
        }
      }
      candidates.removeAll(settled);
    }
  }

  /** A share of the work, or twice all of it as long as nothing was found. */
  private long allowed(double share, long most) {
    return (long) ((Double.isFinite(best.time) ? share : 2) * most);
  }

  /** Those by time alone that may be better than what is known, best first. */
  private List<SearchCandidate> fastest(
      List<SearchCandidate> candidates, long room, int number, long most) {
    List<SearchCandidate> timed = new ArrayList<>();
    double cut = Math.min(limit, best.time * (1 - LEAST_GAIN));
    for (SearchCandidate candidate : candidates) {
      double time = work < most ? count(candidate, room, StorageListener.NONE, cut) : cut;
      if (time < cut) {
        timed.add(new SearchCandidate(candidate.policy(), candidate.weights(), time));
        timed.sort(Comparator.comparingDouble(SearchCandidate::time));
        if (timed.size() > number) {
          timed.removeLast();
          cut = timed.getLast().time();
        }
      }
    }
    return timed;
  }

  /** Tries places for the lives of a candidate that is held to {@code room} bytes. */
  private boolean place(SearchCandidate candidate, long room) {
    double cut = Math.min(limit, best.time * (1 - LEAST_GAIN));
    LifetimeRecorder script = new LifetimeRecorder(facts.recipes());
    if (count(candidate, room, script, cut) > cut) {
      return false;
    }
    long[][] places = script.place(budget);
    work += script.work() / LIVES_A_STORAGE;
    leastSpread = Math.min(leastSpread, script.reach() / (double) room);
    double[] weights = candidate.weights();
    if (script.reach() <= budget) {
      run(candidate, room, new PlannedForesight(facts, weights, places, room, script.drops()));
      return true;
    }
    run(candidate, room, new PlannedForesight(facts, weights, places, room));
    run(candidate, room, new PlannedForesight(facts, weights, places, Long.MAX_VALUE));
    return false;
  }

  /** Runs a candidate on real addresses. */
  private void run(SearchCandidate candidate, long room, PlannedForesight known) {
    double cut = Math.min(limit, best.time * (1 - LEAST_GAIN));
    StorageMemory space = new StorageMemory.Placed(new BlockArena(budget), known);
    Simulation trial =
        Simulation.run(
            facts.step(),
            space,
            candidate.policy(),
            known,
            StorageListener.NONE,
            cut,
            MOST_WORK_OF_TRIAL);
    work += trial.work();
    if (trial.time() < best.time) {
      best = new Guide(candidate.policy(), known, trial.time());
      bestCandidate = candidate;
      bestRoom = room;
    }
  }

  /** Time of a candidate when bytes are only counted; infinite beyond {@code cut}. */
  private double count(SearchCandidate candidate, long room, StorageListener watcher, double cut) {
    PlannedForesight known = new PlannedForesight(facts, candidate.weights(), new long[0][], room);
    StorageMemory space = new StorageMemory.Counted(room);
    Simulation trial =
        Simulation.run(
            facts.step(), space, candidate.policy(), known, watcher, cut, MOST_WORK_OF_TRIAL);
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
      double[] weights = Arrays.copyOf(bestCandidate.weights(), facts.recipes().storages());
      Arrays.fill(weights, bestCandidate.weights().length, weights.length, 1);
      for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
        int changed = storages[random.nextInt(storages.length)];
        weights[changed] = WEIGHTS[random.nextInt(WEIGHTS.length)];
      }
      boolean isOther = random.nextInt(3) == 0;
      double slack = SLACK[random.nextInt(SLACK.length / 2)];
      double before = best.time;
      place(
          new SearchCandidate(bestCandidate.policy(), weights, 0),
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
