package dev.tern.internal.remat;

import java.util.Arrays;

/**
 * The state of every value and storage of a {@link Residency}, in arrays by their numbers. The
 * residency and its parts read and write the entries.
 */
final class StorageStates {
  private final Recipes recipes;

  /** By value: whether it can be read. The other arrays are by storage. */
  boolean[] isDefined = new boolean[64];

  boolean[] isResident = new boolean[64];
  boolean[] isPinned = new boolean[64];
  int[] locks = new int[64];
  int[] references = new int[64];

  /** How often a storage got memory so far. */
  int[] lives = new int[64];

  double[] lastUse = new double[64];
  long[] handle = new long[64];

  StorageStates(Recipes recipes) {
    this.recipes = recipes;
  }

  /** Makes room for all values and storages that the recipes have. */
  void extend() {
    if (recipes.values() > isDefined.length) {
      isDefined = Arrays.copyOf(isDefined, 2 * recipes.values());
    }
    if (recipes.storages() > locks.length) {
      int length = 2 * recipes.storages();
      isResident = Arrays.copyOf(isResident, length);
      isPinned = Arrays.copyOf(isPinned, length);
      locks = Arrays.copyOf(locks, length);
      references = Arrays.copyOf(references, length);
      lives = Arrays.copyOf(lives, length);
      lastUse = Arrays.copyOf(lastUse, length);
      handle = Arrays.copyOf(handle, length);
    }
  }

  /** Notes that a storage has memory; it has one more life. */
  void settle(int storage, long itsHandle) {
    isResident[storage] = true;
    handle[storage] = itsHandle;
    lives[storage]++;
  }

  /** Notes that a storage lost its memory, and with it all its values. */
  void vacate(int storage) {
    isResident[storage] = false;
    IntLists members = recipes.members();
    for (int cell = members.first(storage); cell >= 0; cell = members.next(cell)) {
      isDefined[members.get(cell)] = false;
    }
  }

  /**
   * True when nobody needs a resident storage any more, now or later: nothing refers to it or uses
   * it, and no op that reads it can run again.
   */
  boolean isSpent(int storage) {
    boolean isNeeded = references[storage] > 0 || locks[storage] > 0 || isPinned[storage];
    if (!isResident[storage] || isNeeded) {
      return false;
    }
    IntLists members = recipes.members();
    IntLists readers = recipes.readers();
    for (int cell = members.first(storage); cell >= 0; cell = members.next(cell)) {
      int value = members.get(cell);
      for (int at = readers.first(value); at >= 0; at = readers.next(at)) {
        if (recipes.isRepeatable(readers.get(at))) {
          return false;
        }
      }
    }
    return true;
  }

  /** True when a storage may be evicted: it has memory, can be had again and nobody needs it. */
  boolean isEvictable(int storage) {
    return isResident[storage]
        && locks[storage] == 0
        && !isPinned[storage]
        && recipes.bytes(storage) > 0
        && !recipes.isLasting(storage);
  }

  /** Adopts the new numbers of values and storages. */
  void renumber(Recipes.Renumbered to) {
    // No number grows, so an entry moves before another is written over it.
    for (int value = 0; value < to.values().length; value++) {
      if (to.values()[value] >= 0) {
        isDefined[to.values()[value]] = isDefined[value];
      }
    }
    Arrays.fill(isDefined, recipes.values(), isDefined.length, false);
    for (int storage = 0; storage < to.storages().length; storage++) {
      if (to.storages()[storage] >= 0) {
        move(storage, to.storages()[storage]);
      }
    }
    for (int storage = recipes.storages(); storage < to.storages().length; storage++) {
      isResident[storage] = false;
      isPinned[storage] = false;
      locks[storage] = 0;
      references[storage] = 0;
      lives[storage] = 0;
      lastUse[storage] = 0;
      handle[storage] = 0;
    }
  }

  private void move(int storage, int number) {
    isResident[number] = isResident[storage];
    isPinned[number] = isPinned[storage];
    locks[number] = locks[storage];
    references[number] = references[storage];
    lives[number] = lives[storage];
    lastUse[number] = lastUse[storage];
    handle[number] = handle[storage];
  }
}
