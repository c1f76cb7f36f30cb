package dev.tern.internal.residency;

/** Which storages have memory: gives it to one and takes it from others where there is no room. */
final class Occupancy {
  private final Recipes recipes;
  private final Ledger ledger;
  private final Space space;
  private final Policy policy;
  private final Costs costs;
  private final Evictor evictor;
  private final Watcher watcher;
  private long evictions;

  Occupancy(
      Recipes recipes,
      Ledger ledger,
      Space space,
      Policy policy,
      Foresight foresight,
      Watcher watcher) {
    this.recipes = recipes;
    this.ledger = ledger;
    this.space = space;
    this.policy = policy;
    this.watcher = watcher;
    costs = new Costs(recipes, ledger, policy);
    evictor = new Evictor(recipes, ledger, policy, foresight, costs);
  }

  /** How often memory was taken from a storage. */
  long evictions() {
    return evictions;
  }

  /** Notes that a storage is used at a time of the clock. */
  void use(int storage, double now) {
    ledger.use(storage, now);
    evictor.update(storage);
  }

  /** Adds to the number of those that need a storage to stay. */
  void lock(int storage, int by) {
    ledger.lock(storage, by);
    evictor.update(storage);
  }

  /** Notes that a storage may be evicted from here on, or not any more. */
  void update(int storage) {
    evictor.update(storage);
  }

  void setPinned(int storage, boolean pinned) {
    ledger.setPinned(storage, pinned);
    evictor.update(storage);
  }

  /**
   * Gives a result of an op memory and locks it; one that is resident is written over with the same
   * bits.
   *
   * @param waiting ops whose inputs may be evicted when nothing else may
   * @throws NoRoomException when nothing is left to evict
   */
  void settle(int op, int storage, WaitingOps waiting, double now) {
    long bytes = recipes.bytes(storage);
    long handle = bytes == 0 ? Space.NONE : room(op, storage, waiting, now);
    ledger.lock(storage, 1);
    ledger.settle(storage, handle);
    watcher.settled(storage, bytes);
    costs.recomputed(storage);
  }

  private long room(int op, int storage, WaitingOps waiting, double now) {
    long bytes = recipes.bytes(storage);
    int life = ledger.lives(storage);
    while (true) {
      long handle = space.take(storage, bytes, life);
      if (handle != Space.NONE) {
        return handle;
      }
      int count = evictor.choose(space, bytes, now);
      for (int i = 0; i < count; i++) {
        evict(evictor.victim(i));
      }
      if (count == 0 && !evictHeld(waiting)) {
        space.gaveUp();
        throw new NoRoomException(op, bytes, space);
      }
    }
  }

  /** Evicts an input of an op that waits, the longest waiting first; false where none may go. */
  private boolean evictHeld(WaitingOps waiting) {
    if (policy == Policy.NONE) {
      return false;
    }
    for (int i = 0; i < waiting.firstHeld(); i++) {
      int storage = waiting.held(i);
      if (storage >= 0 && ledger.locks(storage) == 1) {
        ledger.lock(storage, -1);
        if (ledger.isEvictable(storage)) {
          waiting.letGo(i);
          evict(storage);
          return true;
        }
        ledger.lock(storage, 1);
      }
    }
    return false;
  }

  /** Takes the memory of a resident storage. */
  void evict(int storage) {
    long bytes = recipes.bytes(storage);
    if (bytes > 0) {
      space.give(ledger.handle(storage), bytes);
    }
    ledger.vacate(storage);
    watcher.vacated(storage);
    evictor.update(storage);
    costs.evicted(storage);
    evictions++;
  }
}
