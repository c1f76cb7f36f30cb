package dev.tern.internal.remat.search;

import dev.tern.internal.remat.MemoryPeak;
import dev.tern.internal.remat.Recipes;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Searches for the decisions of a {@link Retention} that recompute least, by simulated annealing
 * (Kirkpatrick, Gelatt and Vecchi 1983). It changes a few decisions at random, mostly neighbours,
 * and continues from the result if that is better, or by chance if it is worse. Too much memory is
 * not forbidden but counts as time, so that the search can pass through such decisions.
 */
final class Annealing {
  /** The time, in steps, that memory too much counts as when it is as much as the room. */
  private static final double WEIGHT = 2;

  // The share of the time of a step by which a result may be worse: at first, and at last.
  private static final double HOT = 3e-4;
  private static final double WARM = 1e-4;
  private static final double COLD = 5e-6;

  /** Storages of less than this part of the budget are always kept. */
  private static final long SMALL = 5_000;

  /** The most counts of a step for each of its stretches. Small steps need fewer. */
  private static final long COUNTS = 2_000;

  private static final int NEAR = 12;
  private static final int MOST_CHANGES = 4;

  private final Retention retention;
  private final double once;
  private final int[] stretches;
  private final SplittableRandom random;
  private final SearchTimer timer;
  private final int[] changed = new int[MOST_CHANGES];

  /** Decisions, and the time of what runs again; infinite where they need too much room. */
  record Choice(boolean[] decisions, double again) {}

  Annealing(Retention retention, long budget, SearchTimer timer, int seed) {
    this.retention = retention;
    this.timer = timer;
    random = new SplittableRandom(seed + 1L);
    Recipes recipes = retention.uses().recipes();
    once = retention.uses().trace().cost();
    stretches =
        IntStream.range(0, retention.stretches())
            .filter(i -> retention.toOp[i] - retention.fromOp[i] > 1)
            .filter(i -> recipes.bytes(retention.storageOf[i]) * SMALL >= budget)
            .filter(i -> !recipes.isLasting(retention.storageOf[i]))
            .toArray();
  }

  /** A search near where it starts. */
  Choice refine(boolean[] start, long room, long runs) {
    return search(start, room, runs, WARM);
  }

  /** A search that goes farther from where it starts. */
  Choice explore(boolean[] start, long room, long runs) {
    return search(start, room, runs, HOT);
  }

  /** Searches until {@code most} runs of ops were counted. */
  private Choice search(boolean[] start, long room, long most, double hot) {
    long runs = Math.min(most, COUNTS * stretches.length * retention.uses().recipes().ops());
    boolean[] decisions = start.clone();
    double weight = WEIGHT * once;
    double loss = retention.loss(decisions, room, weight, Double.POSITIVE_INFINITY);
    Choice best = better(new Choice(start, Double.POSITIVE_INFINITY), decisions, room);
    long first = retention.runs();
    long spent = 0;
    while (spent < runs && stretches.length > 0 && best.again > 0 && !timer.isOver()) {
      double heat = once * hot * Math.pow(COLD / hot, spent / (double) runs);
      double cut = loss - heat * Math.log(random.nextDouble());
      int changes = change(decisions);
      double changedLoss = retention.loss(decisions, room, weight, cut);
      if (changedLoss <= cut) {
        loss = changedLoss;
        best = better(best, decisions, room);
      } else {
        undo(decisions, changes);
      }
      spent = retention.runs() - first;
    }
    timer.looked(spent);
    return best;
  }

  /** The decisions counted last, if they fit and are better than those known. */
  private Choice better(Choice known, boolean[] decisions, long room) {
    return retention.peak() <= room && retention.again() < known.again
        ? new Choice(decisions.clone(), retention.again())
        : known;
  }

  /** Changes decisions; returns how many. */
  private int change(boolean[] decisions) {
    int changes = 1;
    while (changes < MOST_CHANGES && random.nextInt(5) < 2) {
      changes++;
    }
    int first = random.nextInt(stretches.length);
    for (int i = 0; i < changes; i++) {
      int at = i == 0 ? first : another(first);
      boolean isInBetween = random.nextInt(5) == 0;
      changed[i] = stretches[at] + (isInBetween ? retention.stretches() : 0);
      decisions[changed[i]] ^= true;
    }
    return changes;
  }

  private int another(int first) {
    return random.nextBoolean()
        ? random.nextInt(stretches.length)
        : Math.floorMod(first + random.nextInt(-NEAR, NEAR + 1), stretches.length);
  }

  private void undo(boolean[] decisions, int changes) {
    for (int i = changes - 1; i >= 0; i--) {
      decisions[changed[i]] ^= true;
    }
  }

  /** Drops what a set does not hold over the moment of most memory. */
  boolean[] keeping(boolean[] isKept) {
    Recipes recipes = retention.uses().recipes();
    int peakOp = MemoryPeak.of(retention.uses().trace(), recipes).op();
    boolean[] decisions = retention.keepAll();
    for (int i = 0; i < retention.stretches(); i++) {
      boolean spans = retention.fromOp[i] < peakOp && retention.toOp[i] > peakOp;
      decisions[i] = !spans || isKept[retention.storageOf[i]];
    }
    return decisions;
  }
}
