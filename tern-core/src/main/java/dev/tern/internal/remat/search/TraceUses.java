package dev.tern.internal.remat.search;

import dev.tern.internal.remat.Recipes;
import dev.tern.internal.remat.Trace;
import java.util.Arrays;
import java.util.stream.IntStream;

/** When the program itself, not recomputation, uses each storage of a recorded step. */
final class TraceUses {
  /** A storage that is not used again counts as used so many steps later. */
  private static final double NEVER = 2;

  private final Trace trace;
  private final Recipes recipes;
  private final double[] timeAt;

  /** By storage the ops that read it, in rising order; the number of ops stands for a pin. */
  private final int[][] uses;

  TraceUses(Trace trace) {
    this.trace = trace;
    recipes = trace.recipes();
    timeAt = new double[recipes.ops() + 1];
    IntStream.Builder[] found = new IntStream.Builder[recipes.storages()];
    Arrays.setAll(found, _ -> IntStream.builder());
    int op = 0;
    for (Trace.Event event : trace.events()) {
      if (event instanceof Trace.Run run) {
        for (int value : run.reads()) {
          found[recipes.storage(value)].add(op);
        }
        timeAt[op + 1] = timeAt[op] + run.cost();
        op++;
      } else if (event instanceof Trace.Pin(int value)) {
        found[recipes.storage(value)].add(op);
      }
    }
    uses = Arrays.stream(found).map(ops -> ops.build().distinct().toArray()).toArray(int[][]::new);
  }

  Trace trace() {
    return trace;
  }

  Recipes recipes() {
    return recipes;
  }

  /** True when the program reads a storage after an op. */
  boolean isUsedAfter(int storage, int op) {
    return firstAfter(storage, op) < uses[storage].length;
  }

  /** The last op up to one given that reads a storage, or a negative number. */
  int lastUseUpTo(int storage, int op) {
    int after = firstAfter(storage, op);
    return after == 0 ? -1 : uses[storage][after - 1];
  }

  /** How many uses of a storage are not after an op. */
  private int firstAfter(int storage, int op) {
    int at = Arrays.binarySearch(uses[storage], op);
    return at < 0 ? -at - 1 : at + 1;
  }

  /** When a storage is next used after an op; negative for a storage that the step lacks. */
  double nextUse(int storage, int op) {
    if (storage >= uses.length) {
      return -1;
    }
    int[] of = uses[storage];
    int after = firstAfter(storage, op);
    return after == of.length ? time(op) + NEVER * timeAt[recipes.ops()] : timeAt[of[after]];
  }

  /** The time of the program without recomputation at an op. */
  double time(int op) {
    return timeAt[Math.min(op, timeAt.length - 1)];
  }
}
