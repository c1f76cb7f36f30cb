package dev.tern.internal.remat.search;

import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.Foresight;
import dev.tern.internal.remat.Guide;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Recipes;
import dev.tern.internal.remat.Simulation;
import dev.tern.internal.remat.StorageListener;
import dev.tern.internal.remat.StorageMemory;
import dev.tern.internal.remat.Trace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Searches for the best way to run a recorded step within a budget. It tries policies and sets of
 * storages to keep, has the lifetimes of storages placed in the arena ahead, and keeps what cost
 * least on real addresses.
 *
 * <p>A simulation that only counts bytes is first held to the whole budget, then to less and less
 * of it, until all lifetimes find places. A run that is held to the same bytes then does the same.
 * A run that is not may do with less recomputation where places allow.
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

  // How long to search, in storages and lives looked at: a thousand million take some seconds.
  private static final long WORK = 300_000_000;
  private static final long LITTLE_WORK = 110_000_000;
  private static final long LEARNING_WORK = 75_000_000;

  // Shares of the work after which no more candidates are timed, and none placed.
  private static final double TIMED = 0.4;
  private static final double PLACED = 0.7;

  /** The share of the work up to which every slack is tried, promising or not. */
  private static final double FREE = 0.2;

  /** The most by which places are taken to reach beyond the room. */
  private static final double MOST_SPREAD = 1.1;

  /** The share of the slack that places lacked in the last round which may suffice. */
  private static final double HOPE = 0.5;

  /** A simulation that takes more work is given up. */
  private static final long MOST_WORK = 36_000_000;

  /** How many lives are looked at in the time of a storage. */
  private static final long LIVES_A_STORAGE = 4;

  private static final int PATIENCE = 300;
  private static final int MOST_ROUNDS = 12;

  private final TraceUses uses;
  private final long budget;
  private final double limit;
  private final SearchTimer timer;
  private Guide best;
  private SearchCandidate bestCandidate = new SearchCandidate(Policy.H_DTR_EQ, new double[0], 0);
  private long bestRoom;

  /** How far places reached in the last round, divided by the room given to their lives. */
  private double leastSpread = 1;

  private long work;

  private ScheduleSearch(TraceUses uses, long budget, double limit, SearchTimer timer) {
    this.uses = uses;
    this.budget = budget;
    this.limit = limit;
    this.timer = timer;
    bestRoom = budget;
    best = new Guide(Policy.H_DTR_EQ, Foresight.NONE, budget, Double.POSITIVE_INFINITY);
  }

  private static ScheduleSearch of(Trace trace, long budget, double limit) {
    return new ScheduleSearch(new TraceUses(trace), budget, limit, SearchTimer.unlimited());
  }

  /** The best of a few ways, which suit chains and steps like them; quick for long steps too. */
  public static Guide sketch(Trace trace, long budget, double limit) {
    ScheduleSearch search = of(trace, budget, limit);
    search.searchAll(SearchCandidate.few(search.uses, budget), 1, WORK);
    return search.best;
  }

  /**
   * The best way found in a second or two, as long as one may wait before a training starts. Where
   * none was found, it takes longer.
   */
  static Guide prepare(Trace trace, long budget, double limit) {
    Guide quick = of(trace, budget, limit).full(LITTLE_WORK);
    return Double.isFinite(quick.time()) ? quick : of(trace, budget, limit).full(WORK);
  }

  /**
   * The best of some policies that know when each storage is used next: each runs the step once
   * with bytes only counted; those that recompute least are placed. Takes about a second for steps
   * of some thousand ops, little enough for every new shape of a step.
   */
  public static Guide learn(Trace trace, long budget, double limit) {
    ScheduleSearch search = of(trace, budget, limit);
    search.searchAll(SearchCandidate.learned(), FEW_FINALISTS, LEARNING_WORK);
    return search.best;
  }

  /**
   * The best way found in up to a minute with full knowledge of the step: policies, sets to keep at
   * the moment of most memory, and decisions for each use of each storage. Not worse than what is
   * learned.
   */
  public static Guide plan(Trace trace, long budget, double limit) {
    Guide known = faster(learn(trace, budget, limit), of(trace, budget, limit).full(WORK));
    return RetentionSearch.improve(known, new TraceUses(trace), SearchTimer.unlimited(), 0);
  }

  /**
   * A way to run a step that is not worse than one that is known: the best that is found until the
   * time is over. In turns, decisions for each use are searched for, and weights are changed at
   * random, each time longer and by other random numbers.
   */
  static Guide improve(Trace trace, Guide known, double limit, SearchTimer timer) {
    TraceUses uses = new TraceUses(trace);
    timer.found(known.time());
    ScheduleSearch search = new ScheduleSearch(uses, known.budget(), limit, timer);
    Guide best = known;
    for (int round = 0; round < MOST_ROUNDS && !timer.isOver(); round++) {
      best = RetentionSearch.improve(best, uses, timer, round);
      timer.found(best.time());
      if (round == 0) {
        search.full(WORK);
      } else {
        search.improve(search.work + (WORK << round), round + 1);
      }
      best = faster(best, search.best);
    }
    return best;
  }

  private static Guide faster(Guide guide, Guide other) {
    return other.time() < guide.time() ? other : guide;
  }

  /**
   * A time below which no schedule can run the step within a budget; infinite where an op does not
   * fit with what must stay. It looks at the moment of most memory alone, so the best schedule may
   * take longer.
   */
  public static double bound(Trace trace, long budget) {
    return trace.cost() + new KeepSets(new TraceUses(trace)).leastRecomputation(budget);
  }

  private Guide full(long most) {
    searchAll(SearchCandidate.all(uses, budget), FINALISTS, most);
    improve(most, 1);
    return best;
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
        if (work < allowed(PLACED, most) && !timer.isOver() && place(candidate, room)) {
          settled.add(candidate);
        }
      }
      candidates.removeAll(settled);
    }
  }

  /** A share of the work, or twice all of it as long as nothing was found. */
  private long allowed(double share, long most) {
    return (long) ((Double.isFinite(best.time()) ? share : 2) * most);
  }

  /** Candidates that may be better than the best so far, by time alone, fastest first. */
  private List<SearchCandidate> fastest(
      List<SearchCandidate> candidates, long room, int number, long most) {
    List<SearchCandidate> timed = new ArrayList<>();
    double cut = cut();
    for (SearchCandidate candidate : candidates) {
      double time =
          work < most && !timer.isOver() ? count(candidate, room, StorageListener.NONE, cut) : cut;
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
    LifetimeRecorder recorder = new LifetimeRecorder(uses.recipes());
    double cut = cut();
    if (count(candidate, room, recorder, cut) > cut) {
      return false;
    }
    long[][] places = recorder.place(budget);
    looked(recorder.work() / LIVES_A_STORAGE);
    leastSpread = Math.min(leastSpread, recorder.reach() / (double) room);
    double[] weights = candidate.weights();
    if (recorder.reach() <= budget) {
      run(candidate, room, new PlannedForesight(uses, weights, places, room, recorder.drops()));
      return true;
    }
    run(candidate, room, new PlannedForesight(uses, weights, places, room));
    run(candidate, room, new PlannedForesight(uses, weights, places, Long.MAX_VALUE));
    return false;
  }

  /** A candidate that takes this time is of no use. */
  private double cut() {
    return Math.min(limit, best.time() * (1 - LEAST_GAIN));
  }

  private void looked(long more) {
    work += more;
    timer.looked(more);
  }

  /** Runs a candidate on real addresses. */
  private void run(SearchCandidate candidate, long room, PlannedForesight known) {
    StorageMemory memory = new StorageMemory.Placed(new BlockArena(budget), known);
    double time = simulate(candidate, known, memory, StorageListener.NONE, cut());
    if (time < best.time()) {
      best = new Guide(candidate.policy(), known, budget, time);
      bestCandidate = candidate;
      bestRoom = room;
      timer.found(time);
    }
  }

  /** Time of a candidate when bytes are only counted; infinite beyond {@code cut}. */
  private double count(SearchCandidate candidate, long room, StorageListener listener, double cut) {
    PlannedForesight known = new PlannedForesight(uses, candidate.weights(), new long[0][], room);
    return simulate(candidate, known, new StorageMemory.Counted(room), listener, cut);
  }

  private double simulate(
      SearchCandidate candidate,
      PlannedForesight known,
      StorageMemory memory,
      StorageListener listener,
      double cut) {
    Guide guide = new Guide(candidate.policy(), known, budget, cut);
    Simulation simulation =
        Simulation.run(
            uses.trace(), memory, guide, listener, new Simulation.Limits(cut, MOST_WORK));
    looked(simulation.work());
    return simulation.time();
  }

  /** Changes weights of some storages at random and keeps changes that make the step faster. */
  private void improve(long most, int seed) {
    int[] storages = worthChanging();
    double enough = uses.trace().cost() * (1 + LEAST_GAIN);
    SplittableRandom random = new SplittableRandom(seed);
    int failures = storages.length > 0 && Double.isFinite(best.time()) ? 0 : PATIENCE;
    while (failures < PATIENCE && work < most && best.time() > enough && !timer.isOver()) {
      double[] weights = Arrays.copyOf(bestCandidate.weights(), uses.recipes().storages());
      Arrays.fill(weights, bestCandidate.weights().length, weights.length, 1);
      for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
        int changed = storages[random.nextInt(storages.length)];
        weights[changed] = WEIGHTS[random.nextInt(WEIGHTS.length)];
      }
      boolean isOther = random.nextInt(3) == 0;
      double slack = SLACK[random.nextInt(SLACK.length / 2)];
      double before = best.time();
      place(
          new SearchCandidate(bestCandidate.policy(), weights, 0),
          isOther ? (long) (budget * (1 - slack)) : bestRoom);
      failures = best.time() < before ? 0 : failures + 1;
    }
  }

  /** Storages large enough to matter that may be evicted. */
  private int[] worthChanging() {
    Recipes recipes = uses.recipes();
    return IntStream.range(0, recipes.storages())
        .filter(storage -> recipes.bytes(storage) * SMALL >= budget)
        .filter(storage -> recipes.isRepeatable(recipes.makerOfStorage(storage)))
        .toArray();
  }
}
