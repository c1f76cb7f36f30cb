package dev.tern.internal.remat;

import java.util.Arrays;

/** The time to compute a storage again, with the neighbours that the policy counts. */
final class RecomputeCosts {
  private final Recipes recipes;
  private final StorageStates states;
  private final Policy policy;
  private final EvictedSets sets = new EvictedSets();
  private int[] seen = new int[64];
  private int stamp;
  private int[] queue = new int[64];
  private long work;

  RecomputeCosts(Recipes recipes, StorageStates states, Policy policy) {
    this.recipes = recipes;
    this.states = states;
    this.policy = policy;
  }

  /** How many storages were looked at. */
  long work() {
    return work;
  }

  /** Cost of a storage and of the evicted neighbours that count. */
  double of(int storage) {
    work++;
    double own = recipes.storageCost(storage);
    return switch (policy.neighbourhood()) {
      case OWN -> own + ofTaken(storage);
      case ANCESTORS -> own + walk(storage, true);
      case EXACT -> own + walk(storage, true) + walk(storage, false);
      case SETS -> own + ofSets(storage);
    };
  }

  /** Cost of the storage that this one is written over: to make this one, both are computed. */
  private double ofTaken(int storage) {
    int taken = recipes.takes(storage);
    return taken < 0 ? 0 : recipes.storageCost(taken);
  }

  /** Notes an eviction. */
  void evicted(int storage) {
    if (policy.neighbourhood() != Policy.Neighbourhood.SETS) {
      return;
    }
    sets.add(storage, recipes.storageCost(storage));
    int count = listNeighbours(storage);
    for (int i = 0; i < count; i++) {
      int other = queue[i];
      if (other != storage && !states.isResident[other] && sets.find(other) >= 0) {
        sets.join(storage, other);
      }
    }
  }

  /** Lists in the queue the storages that this one is computed from and those computed from it. */
  private int listNeighbours(int storage) {
    int count = 0;
    IntLists members = recipes.members();
    for (int cell = members.first(storage); cell >= 0; cell = members.next(cell)) {
      int value = members.get(cell);
      for (int input : recipes.inputs(recipes.maker(value))) {
        count = append(recipes.storage(input), count);
      }
      IntLists readers = recipes.readers();
      for (int at = readers.first(value); at >= 0; at = readers.next(at)) {
        int reader = readers.get(at);
        for (int out = recipes.firstOutput(reader); out < recipes.endOutput(reader); out++) {
          count = append(recipes.storage(out), count);
        }
      }
    }
    return count;
  }

  private int append(int storage, int end) {
    if (end == queue.length) {
      queue = Arrays.copyOf(queue, 2 * end);
    }
    queue[end] = storage;
    return end + 1;
  }

  /** Notes that an evicted storage was computed again. */
  void recomputed(int storage) {
    sets.leave(storage, recipes.storageCost(storage));
  }

  private double ofSets(int storage) {
    stamp++;
    double sum = 0;
    int count = listNeighbours(storage);
    for (int i = 0; i < count; i++) {
      sum += ofSet(storage, queue[i]);
    }
    return sum;
  }

  /** The cost of the set of {@code other}; 0 if that set was counted before. */
  private double ofSet(int storage, int other) {
    work++;
    if (other == storage || states.isResident[other]) {
      return 0;
    }
    int set = sets.find(other);
    return set >= 0 && isNew(set) ? sets.cost(set) : 0;
  }

  /** Cost of all evicted storages that a path of evicted ones reaches, to inputs or to results. */
  private double walk(int storage, boolean towardsInputs) {
    stamp++;
    isNew(storage);
    int ahead = 0;
    int end = 0;
    queue[end++] = storage;
    double sum = 0;
    IntLists members = recipes.members();
    while (ahead < end) {
      int from = queue[ahead++];
      if (from != storage) {
        sum += recipes.storageCost(from);
      }
      for (int cell = members.first(from); cell >= 0; cell = members.next(cell)) {
        int value = members.get(cell);
        end = towardsInputs ? addInputs(recipes.maker(value), end) : addResults(value, end);
      }
    }
    return sum;
  }

  private int addInputs(int op, int before) {
    int end = before;
    for (int input : recipes.inputs(op)) {
      end = add(recipes.storage(input), end);
    }
    return end;
  }

  private int addResults(int value, int before) {
    int end = before;
    IntLists readers = recipes.readers();
    for (int at = readers.first(value); at >= 0; at = readers.next(at)) {
      int reader = readers.get(at);
      for (int out = recipes.firstOutput(reader); out < recipes.endOutput(reader); out++) {
        end = add(recipes.storage(out), end);
      }
    }
    return end;
  }

  private int add(int storage, int end) {
    work++;
    return states.isResident[storage] || !isNew(storage) ? end : append(storage, end);
  }

  /** Whether a storage, or a set, is seen for the first time under this stamp. */
  private boolean isNew(int number) {
    if (number >= seen.length) {
      seen = Arrays.copyOf(seen, 2 * number);
    }
    boolean isNew = seen[number] != stamp;
    seen[number] = stamp;
    return isNew;
  }
}
