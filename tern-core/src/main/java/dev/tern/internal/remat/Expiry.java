package dev.tern.internal.remat;

import java.util.stream.IntStream;

/**
 * Ops that cannot run again: some that are given, and all ops that read a result of such an op
 * which is not resident.
 */
final class Expiry {
  private final Recipes recipes;
  private final StorageStates states;
  private final boolean[] expires;

  Expiry(Recipes recipes, StorageStates states, int[] ops) {
    this.recipes = recipes;
    this.states = states;
    expires = new boolean[recipes.ops()];
    for (int op : ops) {
      expires[op] = true;
    }
    // Readers have larger numbers than what they read, so one pass in order finds all.
    for (int op = 0; op < expires.length; op++) {
      if (expires[op]) {
        passOn(op);
      }
    }
  }

  /** The ops that read values of a storage. */
  static int[] readers(Recipes recipes, int storage) {
    IntStream.Builder ops = IntStream.builder();
    IntLists members = recipes.members();
    IntLists readers = recipes.readers();
    for (int cell = members.first(storage); cell >= 0; cell = members.next(cell)) {
      int value = members.get(cell);
      for (int at = readers.first(value); at >= 0; at = readers.next(at)) {
        ops.add(readers.get(at));
      }
    }
    return ops.build().distinct().toArray();
  }

  private void passOn(int op) {
    IntLists readers = recipes.readers();
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      for (int at = readers.first(value); !states.isDefined[value] && at >= 0; ) {
        expires[readers.get(at)] = true;
        at = readers.next(at);
      }
    }
  }

  /** Referenced values that are not resident and that only these ops can make. */
  int[] wanted() {
    return IntStream.range(0, expires.length)
        .filter(op -> expires[op] && recipes.isRepeatable(op))
        .flatMap(op -> IntStream.range(recipes.firstOutput(op), recipes.endOutput(op)))
        .filter(value -> !states.isDefined[value] && states.references[recipes.storage(value)] > 0)
        .toArray();
  }

  /** Notes that the ops cannot run again; returns their storages to which nobody refers. */
  int[] apply(Occupancy occupancy) {
    IntStream.Builder unreferenced = IntStream.builder();
    for (int op = 0; op < expires.length; op++) {
      if (expires[op] && recipes.isRepeatable(op)) {
        recipes.expire(op);
        for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
          int storage = recipes.storage(value);
          occupancy.update(storage);
          if (states.isResident[storage] && states.references[storage] == 0) {
            unreferenced.add(storage);
          }
        }
      }
    }
    return unreferenced.build().toArray();
  }
}
