package dev.tern.internal.remat;

import java.util.Arrays;

/** What it would take to compute a storage again, by the neighbourhood a policy looks at. */
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

  /** Cost of a storage and of what is evicted around it. */
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

  /** Cost of what a storage is written over, which is gone whenever it was made. */
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
      join(storage, queue[i]);
    }
  }

  /** Lists what a storage is computed from and what is computed from it, some more than once. */
  private int listNeighbours(int storage) {
    int count = 0;
    IntLists members = recipes.members();
    for (int cell = members.first(storage); cell >= 0; cell = members.next(cell)) {
      int value = members.get(cell);
      IntLists inputs = recipes.inputs();
      int maker = recipes.maker(value);
      for (int at = inputs.first(maker); at >= 0; at = inputs.next(at)) {
        count = append(recipes.storage(inputs.get(at)), count);
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

  private void join(int storage, int other) {
    if (other != storage && !states.isResident(other) && sets.find(other) >= 0) {
      sets.join(storage, other);
    }
  }

  /** Notes that an evicted storage was computed again. */
  void recomputed(int storage) {
    sets.leave(storage, recipes.storageCost(storage));
  }

  private double ofSets(int storage) {
    begin(recipes.storages());
    double sum = 0;
    int count = listNeighbours(storage);
    for (int i = 0; i < count; i++) {
      sum += ofSet(storage, queue[i]);
    }
    return sum;
  }

  /** The cost of the set that {@code other} is in, once. */
  private double ofSet(int storage, int other) {
    work++;
    if (other == storage || states.isResident(other)) {
      return 0;
    }
    int set = sets.find(other);
    return set >= 0 && isNew(set) ? sets.cost(set) : 0;
  }

  /** Cost of the evicted storages reached through evicted ones, towards inputs or results. */
  private double walk(int storage, boolean towardsInputs) {
    begin(recipes.storages());
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
    IntLists inputs = recipes.inputs();
    for (int at = inputs.first(op); at >= 0; at = inputs.next(at)) {
      end = add(recipes.storage(inputs.get(at)), end);
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
    return states.isResident(storage) || !isNew(storage) ? end : append(storage, end);
  }

  private void begin(int numbers) {
    stamp++;
    if (numbers > seen.length) {
      seen = Arrays.copyOf(seen, 2 * numbers);
    }
  }

  private boolean isNew(int number) {
    if (number >= seen.length) {
      seen = Arrays.copyOf(seen, 2 * number);
    }
    boolean isNew = seen[number] != stamp;
    seen[number] = stamp;
    return isNew;
  }
}
