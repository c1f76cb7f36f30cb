package dev.tern.internal.remat.search;

import dev.tern.internal.remat.Foresight;
import dev.tern.internal.remat.Recipes;
import dev.tern.internal.remat.Trace;
import java.util.Arrays;

/** When the program itself, not recomputation, uses each storage of a recorded step. */
final class TraceUses implements Foresight {
  private static final double NEVER = 2;

  private final Trace trace;
  private final Recipes recipes;
  private final double[] timeAt;
  private final int[][] uses;
  private final double total;

  TraceUses(Trace trace) {
    this.trace = trace;
    recipes = trace.recipes();
    timeAt = new double[recipes.ops() + 1];
    uses = new int[recipes.storages()][];
    int[] counts = new int[recipes.storages()];
    for (int pass = 0; pass < 2; pass++) {
      Arrays.fill(counts, 0);
      walk(counts, pass == 1);
      if (pass == 0) {
        for (int i = 0; i < uses.length; i++) {
          uses[i] = new int[counts[i]];
        }
      }
    }
    total = timeAt[recipes.ops()];
  }

  private void walk(int[] counts, boolean fill) {
    int op = 0;
    for (Trace.Event event : trace.events()) {
      if (event instanceof Trace.Run run) {
        for (int value : run.reads()) {
          note(recipes.storage(value), op, counts, fill);
        }
        timeAt[op + 1] = timeAt[op] + run.cost();
        op++;
      } else if (event instanceof Trace.Pin(int value)) {
        note(recipes.storage(value), op, counts, fill);
      }
    }
  }

  private void note(int storage, int op, int[] counts, boolean fill) {
    if (fill) {
      uses[storage][counts[storage]] = op;
    }
    counts[storage]++;
  }

  Trace trace() {
    return trace;
  }

  Recipes recipes() {
    return recipes;
  }

  /** True when the program reads a storage after an op. */
  boolean isUsedAfter(int storage, int op) {
    int[] of = uses[storage];
    return of.length > 0 && of[of.length - 1] > op;
  }

  /** The last op up to one given that reads a storage, or a negative number. */
  int lastUseUpTo(int storage, int op) {
    int after = firstAfter(storage, op);
    return after == 0 ? -1 : uses[storage][after - 1];
  }

  /** How many uses of a storage are not after an op. */
  private int firstAfter(int storage, int op) {
    int[] of = uses[storage];
    int low = 0;
    int high = of.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (of[middle] > op) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  @Override
  public double nextUse(int storage, int op) {
    if (storage >= uses.length) {
      return -1;
    }
    int[] of = uses[storage];
    int after = firstAfter(storage, op);
    return after == of.length ? time(op) + NEVER * total : timeAt[of[after]];
  }

  @Override
  public double time(int op) {
    return timeAt[Math.min(op, timeAt.length - 1)];
  }
}
