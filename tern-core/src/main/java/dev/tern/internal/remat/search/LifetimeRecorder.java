package dev.tern.internal.remat.search;

import dev.tern.internal.remat.IntLists;
import dev.tern.internal.remat.Recipes;
import dev.tern.internal.remat.StorageListener;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Records how a step runs, so that it can run in the same way in places found ahead: the lifetimes
 * of storages, and which storages go after which run.
 *
 * <p>A policy evicts what nobody needs only when room is needed, and so fills the memory at all
 * times. By the record, a storage goes directly after the last run that uses it before it is
 * evicted. The same ops run, in less memory, and the lifetimes are easier to place.
 */
final class LifetimeRecorder implements StorageListener {
  private static final int STAYS = -1;
  private static final int NO_LIFE = -1;

  private final Recipes recipes;
  private final int[] current;
  private final boolean[] isPinned;

  /** By life the storage that lies there last. */
  private int[] storage = new int[64];

  private int[] start = new int[64];
  private int[] end = new int[64];

  /** By life the last run that uses it; STAYS where it does not go after that. */
  private int[] lastRun = new int[64];

  private int count;
  private int runs;
  private final List<Tenant> tenants = new ArrayList<>();
  private final Lifetimes lifetimes = new Lifetimes();

  /** A storage that lies where a life does. */
  private record Tenant(int storage, int life) {}

  /** A script of a step of these recipes. */
  LifetimeRecorder(Recipes recipes) {
    this.recipes = recipes;
    current = new int[recipes.storages()];
    isPinned = new boolean[current.length];
    Arrays.fill(current, NO_LIFE);
  }

  @Override
  public void settled(int of, long bytes) {
    if (count == storage.length) {
      storage = Arrays.copyOf(storage, 2 * count);
      start = Arrays.copyOf(start, 2 * count);
      end = Arrays.copyOf(end, 2 * count);
      lastRun = Arrays.copyOf(lastRun, 2 * count);
    }
    start[count] = runs;
    enter(of, count++);
  }

  /** The life goes on, with another storage. */
  @Override
  public void replaced(int of, int by, long bytes) {
    int life = current[of];
    current[of] = NO_LIFE;
    enter(by, life);
  }

  private void enter(int of, int life) {
    storage[life] = of;
    end[life] = Integer.MAX_VALUE;
    lastRun[life] = recipes.isLasting(of) || isPinned[of] ? STAYS : runs;
    current[of] = life;
    tenants.add(new Tenant(of, life));
  }

  @Override
  public void vacated(int of) {
    if (lastRun[current[of]] == STAYS) {
      end[current[of]] = runs;
    }
    current[of] = NO_LIFE;
  }

  @Override
  public void ran(int op) {
    IntLists inputs = recipes.inputs();
    for (int cell = inputs.first(op); cell >= 0; cell = inputs.next(cell)) {
      use(recipes.storage(inputs.get(cell)));
    }
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      use(recipes.storage(value));
    }
    runs++;
  }

  private void use(int of) {
    int life = current[of];
    if (life != NO_LIFE && lastRun[life] != STAYS) {
      lastRun[life] = runs;
    }
  }

  @Override
  public void pins(int of) {
    isPinned[of] = true;
    stay(of);
  }

  /** What is resident may be all there will be of it. */
  @Override
  public void expires() {
    for (int of = 0; of < current.length; of++) {
      stay(of);
    }
  }

  private void stay(int of) {
    if (current[of] != NO_LIFE) {
      lastRun[current[of]] = STAYS;
      end[current[of]] = Integer.MAX_VALUE;
    }
  }

  /** Finds places that reach no further than {@code limit}, if it can; by storage and life. */
  long[][] place(long limit) {
    for (int life = 0; life < count; life++) {
      int to = lastRun[life] == STAYS ? end[life] : lastRun[life] + 1;
      lifetimes.add(recipes.bytes(storage[life]), start[life], to);
    }
    tenants.forEach(tenant -> lifetimes.begin(tenant.storage, tenant.life));
    return lifetimes.place(limit);
  }

  /** How far the places reach. */
  long reach() {
    return lifetimes.reach();
  }

  /** How many lives were looked at to find them. */
  long work() {
    return lifetimes.work();
  }

  /**
   * The storages that go: after the last run that uses them, or, of those that could be all there
   * will be, before the run for which they were evicted.
   */
  PlannedForesight.Drops drops() {
    List<List<Integer>> before = lists();
    List<List<Integer>> after = lists();
    for (int life = 0; life < count; life++) {
      if (lastRun[life] != STAYS) {
        after.get(lastRun[life]).add(storage[life]);
      } else if (end[life] < runs) {
        before.get(end[life]).add(storage[life]);
      }
    }
    return new PlannedForesight.Drops(arrays(before), arrays(after));
  }

  private List<List<Integer>> lists() {
    return Stream.generate(() -> (List<Integer>) new ArrayList<Integer>()).limit(runs).toList();
  }

  private static int[][] arrays(List<List<Integer>> lists) {
    return lists.stream()
        .map(list -> list.stream().mapToInt(of -> of).toArray())
        .toArray(int[][]::new);
  }
}
