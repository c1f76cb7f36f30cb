package dev.tern.internal.remat.search;

import dev.tern.internal.remat.MemoryPeak;
import dev.tern.internal.remat.Recipes;
import java.util.ArrayList;
import java.util.List;

/**
 * Which storages to keep at the moment a step needs most memory, so that the rest costs least to
 * compute again.
 *
 * <p>At that moment, every storage that the program still needs is either kept or recomputed later.
 * The inputs of a recomputed storage must be kept or recomputed. With a price for each byte kept,
 * the cheapest choice is a least cut (a closure problem). The set is the cut at the price at which
 * the kept bytes just fit. The cost of a cut minus the price of all the room (the Lagrangian) is a
 * bound: no schedule recomputes for less time.
 */
final class KeepSets {
  private static final double CERTAIN = 1e18;
  private static final double LOWEST_PRICE = 1e-9;
  private static final int PRICE_STEPS = 40;
  private static final int SOURCE = 0;
  private static final int SINK = 1;

  private final Recipes recipes;
  private final int peakOp;

  /** How many storages exist at the peak. */
  private final int born;

  private final boolean[] isNeeded;

  /** What is resident at the peak whatever is chosen. */
  private final boolean[] isFixed;

  private long fixedBytes;

  /** The storages to keep, their bytes, and the cost of the cut. */
  private record Choice(boolean[] isKept, long keptBytes, double cost) {}

  /** The least price for a byte at which the kept bytes fit, and the largest bound found. */
  private record Price(double perByte, double bound) {}

  KeepSets(TraceUses uses) {
    recipes = uses.recipes();
    MemoryPeak peak = MemoryPeak.of(uses.trace(), recipes);
    peakOp = peak.op();
    int count = 0;
    while (count < recipes.storages() && recipes.makerOfStorage(count) <= peakOp) {
      count++;
    }
    born = count;
    isNeeded = new boolean[recipes.storages()];
    isFixed = new boolean[recipes.storages()];
    for (int storage = 0; storage < born; storage++) {
      isNeeded[storage] = peak.isLive()[storage] && uses.isUsedAfter(storage, peakOp);
      isFixed[storage] = !recipes.isRepeatable(recipes.makerOfStorage(storage));
    }
    for (int input : recipes.inputs(peakOp)) {
      isFixed[recipes.storage(input)] = true;
    }
    for (int out = recipes.firstOutput(peakOp); out < recipes.endOutput(peakOp); out++) {
      isFixed[recipes.storage(out)] = true;
    }
    for (int storage = 0; storage < born; storage++) {
      fixedBytes += isFixed[storage] ? recipes.bytes(storage) : 0;
    }
  }

  /**
   * Sets to keep, each of which leaves more of the budget to what is recomputed.
   *
   * @param margins rising factors of the price at which the kept bytes just fit
   * @return sets by storage, each smaller than the one before
   */
  List<boolean[]> forBudget(long budget, double... margins) {
    double price = priceFor(budget).perByte;
    List<boolean[]> sets = new ArrayList<>();
    long before = -1;
    for (double margin : margins) {
      Choice choice = choose(price * margin);
      if (choice.keptBytes != before) {
        sets.add(choice.isKept);
        before = choice.keptBytes;
      }
    }
    return sets;
  }

  /** The least time of recomputation within a budget; infinite where no schedule fits. */
  double leastRecomputation(long budget) {
    return fixedBytes > budget ? Double.POSITIVE_INFINITY : priceFor(budget).bound;
  }

  private Price priceFor(long budget) {
    long room = budget - fixedBytes;
    double low = LOWEST_PRICE;
    double high = 1;
    double bound = 0;
    for (int i = 0; i < PRICE_STEPS; i++) {
      double price = Math.sqrt(low * high);
      Choice choice = choose(price);
      bound = Math.max(bound, choice.cost - price * room);
      if (choice.keptBytes > room) {
        low = price;
      } else {
        high = price;
      }
    }
    return new Price(high, bound);
  }

  private Choice choose(double price) {
    int firstOp = 2 + born;
    MinCut cut = graph(price, firstOp);
    double cost = cut.solve();
    boolean[] isKept = new boolean[recipes.storages()];
    long keptBytes = 0;
    for (int storage = 0; storage < born; storage++) {
      isKept[storage] =
          !isFixed[storage]
              && cut.isOnSourceSide(2 + storage)
              && !cut.isOnSourceSide(firstOp + recipes.makerOfStorage(storage));
      keptBytes += isKept[storage] ? recipes.bytes(storage) : 0;
    }
    return new Choice(isKept, keptBytes, cost);
  }

  /** A node for each storage, then one for each op. On the source's side are those had or run. */
  private MinCut graph(double price, int firstOp) {
    MinCut cut = new MinCut(firstOp + peakOp + 1, SOURCE, SINK);
    boolean[] hasOp = new boolean[peakOp + 1];
    for (int storage = 0; storage < born; storage++) {
      if (isFixed[storage]) {
        continue;
      }
      if (isNeeded[storage]) {
        cut.edge(SOURCE, 2 + storage, CERTAIN);
      }
      int maker = recipes.makerOfStorage(storage);
      cut.edge(2 + storage, firstOp + maker, price * recipes.bytes(storage));
      if (!hasOp[maker]) {
        hasOp[maker] = true;
        addOp(cut, firstOp, maker);
      }
    }
    return cut;
  }

  private void addOp(MinCut cut, int firstOp, int op) {
    cut.edge(firstOp + op, SINK, recipes.cost(op));
    for (int input : recipes.inputs(op)) {
      int storage = recipes.storage(input);
      if (!isFixed[storage]) {
        cut.edge(firstOp + op, 2 + storage, CERTAIN);
      }
    }
  }
}
