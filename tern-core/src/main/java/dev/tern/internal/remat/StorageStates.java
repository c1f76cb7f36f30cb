package dev.tern.internal.remat;

import java.util.Arrays;

/** The state of every storage and value of a {@link Residency}. */
final class StorageStates {
  private final Recipes recipes;
  private boolean[] isDefined = new boolean[64];
  private boolean[] isResident = new boolean[64];
  private boolean[] isPinned = new boolean[64];
  private int[] locks = new int[64];
  private int[] references = new int[64];
  private int[] lives = new int[64];
  private double[] lastUse = new double[64];
  private long[] handle = new long[64];

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

  /** True when a value can be read. */
  boolean isDefined(int value) {
    return isDefined[value];
  }

  void define(int value) {
    isDefined[value] = true;
  }

  boolean isResident(int storage) {
    return isResident[storage];
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

  /** Notes that the memory of a storage lies elsewhere. */
  void move(int storage, long itsHandle) {
    handle[storage] = itsHandle;
  }

  long handle(int storage) {
    return handle[storage];
  }

  /** How often a storage got memory so far. */
  int lives(int storage) {
    return lives[storage];
  }

  boolean isPinned(int storage) {
    return isPinned[storage];
  }

  void setPinned(int storage, boolean pinned) {
    isPinned[storage] = pinned;
  }

  int locks(int storage) {
    return locks[storage];
  }

  void lock(int storage, int by) {
    locks[storage] += by;
  }

  int references(int storage) {
    return references[storage];
  }

  void refer(int storage, int by) {
    references[storage] += by;
  }

  double lastUse(int storage) {
    return lastUse[storage];
  }

  void use(int storage, double time) {
    lastUse[storage] = time;
  }

  /**
   * True when a storage serves nobody any more and never will: it cannot be had again, and neither
   * can what was computed from it.
   */
  boolean isSpent(int storage) {
    if (!isResident[storage] || locks[storage] > 0 || isPinned[storage]) {
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
    return references[storage] == 0;
  }

  /** True when a storage may be evicted: it has memory, can be had again and nobody needs it. */
  boolean isEvictable(int storage) {
    return isResident[storage]
        && locks[storage] == 0
        && !isPinned[storage]
        && recipes.bytes(storage) > 0
        && !recipes.isLasting(storage);
  }

  /** Takes on the numbers that the recipes gave to what they kept. */
  void renumber(Recipes.Renumbered to) {
    StorageStates old = new StorageStates(recipes);
    old.become(this);
    become(new StorageStates(recipes));
    extend();
    for (int value = 0; value < to.values().length; value++) {
      if (to.values()[value] >= 0) {
        isDefined[to.values()[value]] = old.isDefined[value];
      }
    }
    for (int storage = 0; storage < to.storages().length; storage++) {
      int number = to.storages()[storage];
      if (number >= 0) {
        isResident[number] = old.isResident[storage];
        isPinned[number] = old.isPinned[storage];
        locks[number] = old.locks[storage];
        references[number] = old.references[storage];
        lives[number] = old.lives[storage];
        lastUse[number] = old.lastUse[storage];
        handle[number] = old.handle[storage];
      }
    }
  }

  private void become(StorageStates other) {
    isDefined = other.isDefined;
    isResident = other.isResident;
    isPinned = other.isPinned;
    locks = other.locks;
    references = other.references;
    lives = other.lives;
    lastUse = other.lastUse;
    handle = other.handle;
  }
}
