package dev.tern.internal.remat;

import dev.tern.internal.memory.BlockArena;
import java.util.stream.IntStream;

/** Which storages have memory: gives it to one and takes it from others where there is no room. */
final class Occupancy {
  private final Recipes recipes;
  private final StorageStates ledger;
  private final StorageMemory space;
  private final Policy policy;
  private final Foresight foresight;
  private RecomputeCosts costs;
  private Evictor evictor;
  private final StorageListener watcher;
  private long evictions;
  private long forRoom;

  Occupancy(
      Recipes recipes,
      StorageStates ledger,
      StorageMemory space,
      Policy policy,
      Foresight foresight,
      StorageListener watcher) {
    this.recipes = recipes;
    this.ledger = ledger;
    this.space = space;
    this.policy = policy;
    this.foresight = foresight;
    this.watcher = watcher;
    costs = new RecomputeCosts(recipes, ledger, policy);
    evictor = new Evictor(recipes, ledger, policy, foresight, costs);
  }

  /** How often memory was taken from a storage. */
  long evictions() {
    return evictions;
  }

  /** How often it was because there was no room. */
  long forRoom() {
    return forRoom;
  }

  /** How many storages were looked at to find those to evict. */
  long work() {
    return costs.work();
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
   * Gives a locked result of an op memory.
   *
   * @param waiting ops whose inputs may be evicted when nothing else may
   * @throws NoRoomException when nothing is left to evict
   */
  void settle(int op, int storage, WaitingOps waiting, double now) {
    long bytes = recipes.bytes(storage);
    int life = ledger.lives(storage);
    long handle = bytes == 0 ? StorageMemory.NONE : room(op, storage, bytes, life, waiting, now);
    ledger.settle(storage, handle);
    watcher.settled(storage, bytes);
    costs.recomputed(storage);
  }

  /** Gives a result of an op the memory of another storage, which has none from then on. */
  void replace(int storage, int by) {
    long bytes = recipes.bytes(storage);
    long handle = bytes == 0 ? StorageMemory.NONE : space.pass(ledger.handle(storage), bytes, by);
    ledger.vacate(storage);
    ledger.settle(by, handle);
    watcher.replaced(storage, by, bytes);
    evictor.update(storage);
    costs.evicted(storage);
    costs.recomputed(by);
  }

  /**
   * A handle to memory for an op besides its results, or NONE where it takes none. No storage may
   * be given memory before it is given back.
   *
   * @throws NoRoomException when nothing is left to evict
   */
  long workspace(int op, WaitingOps waiting, double now) {
    long bytes = recipes.workspace(op);
    // Nobody asks for the tag: it goes before the next choice of what to evict.
    return bytes == 0 ? StorageMemory.NONE : room(op, recipes.storages(), bytes, 0, waiting, now);
  }

  /** Takes the memory back that an op had besides its results. */
  void giveWorkspace(int op, long handle) {
    if (handle != StorageMemory.NONE) {
      space.give(handle, recipes.workspace(op));
    }
  }

  /** Takes on the numbers that the recipes gave to what they kept. */
  void renumber(Recipes.Renumbered to) {
    ledger.renumber(to);
    costs = new RecomputeCosts(recipes, ledger, policy);
    evictor = new Evictor(recipes, ledger, policy, foresight, costs);
    for (int storage = 0; storage < recipes.storages(); storage++) {
      if (ledger.isResident(storage)) {
        if (recipes.bytes(storage) > 0) {
          space.renumber(ledger.handle(storage), storage);
        }
        evictor.update(storage);
      } else if (ledger.lives(storage) > 0) {
        costs.evicted(storage);
      }
    }
  }

  private long room(int op, int storage, long bytes, int life, WaitingOps waiting, double now) {
    boolean isGathered = false;
    while (true) {
      long handle = space.take(storage, bytes, life);
      if (handle != StorageMemory.NONE) {
        return handle;
      }
      int count = evictor.choose(space, bytes, now);
      for (int i = 0; i < count; i++) {
        evict(evictor.victim(i));
      }
      forRoom += count;
      if (count > 0) {
        continue;
      }
      isGathered = !isGathered && gather(bytes, now);
      if (!isGathered && !evictHeld(waiting)) {
        space.gaveUp();
        throw new RoomReport(recipes, ledger, space).refusal(op, bytes, waiting);
      }
    }
  }

  /**
   * Where storages that must stay cut free memory into gaps, makes one of them all, evicting what
   * that takes; false where it cannot.
   */
  private boolean gather(long bytes, double now) {
    if (!(space instanceof StorageMemory.Placed placed) || placed.mover().isEmpty()) {
      return false;
    }
    while (space.capacity() - space.used() < BlockArena.rounded(bytes)) {
      if (evictor.chooseOne(now) == 0) {
        return false;
      }
      evict(evictor.victim(0));
      forRoom++;
    }
    moveDown(placed.arena(), placed.mover().get());
    return true;
  }

  /** Moves all that is not pinned to the lowest place there is below it. */
  private void moveDown(BlockArena arena, StorageMemory.Mover mover) {
    IntStream.Builder found = IntStream.builder();
    for (int block = arena.firstBlock(); block != BlockArena.NONE; block = arena.after(block)) {
      if (arena.tag(block) != BlockArena.NONE) {
        found.add(arena.tag(block));
      }
    }
    long end = 0;
    for (int storage : found.build().toArray()) {
      long at = arena.offset(ledger.handle(storage));
      long bytes = recipes.bytes(storage);
      if (at > end && !ledger.isPinned(storage)) {
        arena.free(ledger.handle(storage));
        ledger.move(storage, arena.allocateAt(end, bytes, storage));
        mover.move(at, end, bytes);
        at = end;
      }
      end = at + BlockArena.rounded(bytes);
    }
  }

  /** Evicts an input of an op that waits; false where none may go. */
  private boolean evictHeld(WaitingOps waiting) {
    return policy != Policy.NONE && waiting.letGo(this::evictIfHeldOnce);
  }

  private boolean evictIfHeldOnce(int storage) {
    if (ledger.locks(storage) != 1) {
      return false;
    }
    ledger.lock(storage, -1);
    if (!ledger.isEvictable(storage)) {
      ledger.lock(storage, 1);
      return false;
    }
    evict(storage);
    forRoom++;
    return true;
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
