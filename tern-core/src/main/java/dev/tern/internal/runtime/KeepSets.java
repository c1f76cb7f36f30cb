package dev.tern.internal.runtime;

import java.util.ArrayList;
import java.util.List;

/**
 * Which storages to keep at the moment a step needs most memory, so that the rest costs least to
 * compute again.
 *
 * <p>At that moment every storage the program still needs is kept or recomputed later, and what is
 * recomputed needs its inputs kept or recomputed. With a price for each byte kept, the cheapest
 * choice is a least cut (a closure problem); the price at which the kept bytes just fit gives the
 * set, and its cost less the price of the budget is a bound below which no schedule can go.
 */
final class KeepSets {
  private static final double CERTAIN = 1e18;
  private static final int PRICE_STEPS = 40;
  private static final int SOURCE = 0;
  private static final int SINK = 1;

  private final StepFacts facts;
  private final Recipes recipes;
  private final int peakOp;
  private final boolean[] isNeeded;
  private final boolean[] isFixed;
  private long fixedBytes;
  private boolean[] isKept = new boolean[0];
  private long keptBytes;

  /**
   * @param isKept by storage
   * @param bound no schedule recomputes for less time
   */
  record KeepSet(boolean[] isKept, double bound) {}

  KeepSets(StepFacts facts) {
    this.facts = facts;
    recipes = facts.recipes();
    isNeeded = new boolean[recipes.storages()];
    isFixed = new boolean[recipes.storages()];
    peakOp = findPeak();
    for (int storage = 0; storage < bornStorages(); storage++) {
      isFixed[storage] |= !recipes.isRepeatable(recipes.maker(recipes.root(storage)));
      fixedBytes += isFixed[storage] ? recipes.bytes(storage) : 0;
    }
  }

  private int bornStorages() {
    int count = 0;
    while (count < recipes.storages() && recipes.maker(recipes.root(count)) <= peakOp) {
      count++;
    }
    return count;
  }

  /** The op at which live bytes peak; notes what is needed after it and what it holds itself. */
  private int findPeak() {
    int[] references = new int[recipes.storages()];
    long live = 0;
    long peak = -1;
    int found = 0;
    int op = 0;
    for (Step.Event event : facts.step().events()) {
      switch (event) {
        case Step.Run run -> {
          for (int out = recipes.firstOutput(op); out < recipes.endOutput(op); out++) {
            int storage = recipes.storage(out);
            live += references[storage]++ == 0 ? recipes.bytes(storage) : 0;
          }
          if (live > peak) {
            peak = live;
            found = op;
            for (int storage = 0; storage < references.length; storage++) {
              isNeeded[storage] = references[storage] > 0 && facts.isUsedAfter(storage, op);
              isFixed[storage] = false;
            }
            for (int value : run.reads()) {
              isFixed[recipes.storage(value)] = true;
            }
            for (int out = recipes.firstOutput(op); out < recipes.endOutput(op); out++) {
              isFixed[recipes.storage(out)] = true;
            }
          }
          op++;
        }
        case Step.Retain(int value) -> references[recipes.storage(value)]++;
        case Step.Release(int value) -> {
          int storage = recipes.storage(value);
          live -= --references[storage] == 0 ? recipes.bytes(storage) : 0;
        }
        case Step.Pin _ -> {}
      }
    }
    return found;
  }

  /**
   * Sets that leave more and more of the budget to what is recomputed.
   *
   * @param margins by what to multiply the price at which the kept bytes just fit, in rising order
   */
  List<KeepSet> forBudget(long budget, double... margins) {
    double low = 1e-9;
    double high = 1;
    double bound = 0;
    for (int i = 0; i < PRICE_STEPS; i++) {
      double price = Math.sqrt(low * high);
      bound = Math.max(bound, solve(price) - price * (budget - fixedBytes));
      if (keptBytes + fixedBytes > budget) {
        low = price;
      } else {
        high = price;
      }
    }
    List<KeepSet> sets = new ArrayList<>();
    long before = -1;
    for (double margin : margins) {
      solve(high * margin);
      if (keptBytes != before) {
        sets.add(new KeepSet(isKept, bound));
        before = keptBytes;
      }
    }
    return sets;
  }

  private double solve(double price) {
    int born = bornStorages();
    int ops = 2 + born;
    MinCut cut = new MinCut(ops + peakOp + 1, SOURCE, SINK);
    boolean[] hasOp = new boolean[peakOp + 1];
    for (int storage = 0; storage < born; storage++) {
      if (isFixed[storage]) {
        continue;
      }
      int maker = recipes.maker(recipes.root(storage));
      if (isNeeded[storage]) {
        cut.edge(SOURCE, 2 + storage, CERTAIN);
      }
      cut.edge(2 + storage, ops + maker, price * recipes.bytes(storage));
      if (!hasOp[maker]) {
        hasOp[maker] = true;
        addOp(cut, ops, maker);
      }
    }
    double cost = cut.solve();
    isKept = new boolean[recipes.storages()];
    keptBytes = 0;
    for (int storage = 0; storage < born; storage++) {
      int maker = recipes.maker(recipes.root(storage));
      isKept[storage] =
          !isFixed[storage] && cut.isOnSourceSide(2 + storage) && !cut.isOnSourceSide(ops + maker);
      keptBytes += isKept[storage] ? recipes.bytes(storage) : 0;
    }
    return cost;
  }

  private void addOp(MinCut cut, int ops, int op) {
    cut.edge(ops + op, SINK, recipes.cost(op));
    IntLists inputs = recipes.inputs();
    for (int cell = inputs.first(op); cell >= 0; cell = inputs.next(cell)) {
      int input = recipes.storage(inputs.get(cell));
      if (!isFixed[input]) {
        cut.edge(ops + op, 2 + input, CERTAIN);
      }
    }
  }
}
