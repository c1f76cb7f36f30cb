package dev.tern.internal.remat.search;

import dev.tern.internal.remat.Recipes;
import dev.tern.internal.remat.StorageListener;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
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
  private final int[] lifeOf;
  private final boolean[] isPinned;
  private final List<Life> lives = new ArrayList<>();
  private final Lifetimes lifetimes = new Lifetimes();
  private int runs;

  /** The time in which a place is used, by one storage or by several in turn. */
  private static final class Life {
    /** The storage that lies there last. */
    int storage;

    int start;
    int end;

    /** The last run that uses the storage; STAYS where it does not go after that. */
    int lastRun;
  }

  LifetimeRecorder(Recipes recipes) {
    this.recipes = recipes;
    lifeOf = new int[recipes.storages()];
    isPinned = new boolean[lifeOf.length];
    Arrays.fill(lifeOf, NO_LIFE);
  }

  @Override
  public void settled(int storage, long bytes) {
    Life life = new Life();
    life.start = runs;
    lives.add(life);
    enter(storage, lives.size() - 1);
  }

  /** The life goes on, with another storage. */
  @Override
  public void replaced(int storage, int by, long bytes) {
    int number = lifeOf[storage];
    lifeOf[storage] = NO_LIFE;
    enter(by, number);
  }

  private void enter(int storage, int number) {
    Life life = lives.get(number);
    life.storage = storage;
    life.end = Integer.MAX_VALUE;
    life.lastRun = recipes.isLasting(storage) || isPinned[storage] ? STAYS : runs;
    lifeOf[storage] = number;
    lifetimes.begin(storage, number);
  }

  @Override
  public void vacated(int storage) {
    Life life = lives.get(lifeOf[storage]);
    if (life.lastRun == STAYS) {
      life.end = runs;
    }
    lifeOf[storage] = NO_LIFE;
  }

  @Override
  public void ran(int op) {
    for (int input : recipes.inputs(op)) {
      use(recipes.storage(input));
    }
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      use(recipes.storage(value));
    }
    runs++;
  }

  private void use(int storage) {
    if (lifeOf[storage] != NO_LIFE) {
      Life life = lives.get(lifeOf[storage]);
      life.lastRun = life.lastRun == STAYS ? STAYS : runs;
    }
  }

  @Override
  public void pins(int storage) {
    isPinned[storage] = true;
    stay(storage);
  }

  /** Storages that are resident may not be computed again: they stay. */
  @Override
  public void expires() {
    for (int storage = 0; storage < lifeOf.length; storage++) {
      stay(storage);
    }
  }

  private void stay(int storage) {
    if (lifeOf[storage] != NO_LIFE) {
      Life life = lives.get(lifeOf[storage]);
      life.lastRun = STAYS;
      life.end = Integer.MAX_VALUE;
    }
  }

  /** Finds places that reach no further than {@code limit}, if it can; by storage and life. */
  long[][] place(long limit) {
    for (Life life : lives) {
      int to = life.lastRun == STAYS ? life.end : life.lastRun + 1;
      lifetimes.add(recipes.bytes(life.storage), life.start, to);
    }
    return lifetimes.place(limit);
  }

  long reach() {
    return lifetimes.reach();
  }

  long work() {
    return lifetimes.work();
  }

  /**
   * The storages that go. Most go after the last run that uses them; storages that must stay after
   * it go before the run for which they were evicted.
   */
  PlannedForesight.Drops drops() {
    IntStream.Builder[] before = lists();
    IntStream.Builder[] after = lists();
    for (Life life : lives) {
      if (life.lastRun != STAYS) {
        after[life.lastRun].add(life.storage);
      } else if (life.end < runs) {
        before[life.end].add(life.storage);
      }
    }
    return new PlannedForesight.Drops(arrays(before), arrays(after));
  }

  private IntStream.Builder[] lists() {
    return Stream.generate(IntStream::builder).limit(runs).toArray(IntStream.Builder[]::new);
  }

  private static int[][] arrays(IntStream.Builder[] lists) {
    return Arrays.stream(lists).map(list -> list.build().toArray()).toArray(int[][]::new);
  }
}
