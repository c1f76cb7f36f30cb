package dev.tern.internal.remat;

import dev.tern.internal.memory.BlockArena;
import java.util.stream.IntStream;

/** Gives storages memory, and takes it from others where there is no room. */
final class Occupancy {
  private final Recipes recipes;
  private final StorageStates states;
  private final StorageMemory memory;
  private final Policy policy;
  private final Foresight foresight;
  private RecomputeCosts costs;
  private Evictor evictor;
  private final StorageListener listener;

  /** How often memory was taken from a storage. */
  long evictions;

  /** How often that was because there was no room. */
  long evictionsForRoom;

  Occupancy(
      Recipes recipes,
      StorageStates states,
      StorageMemory memory,
      Guide guide,
      StorageListener listener) {
    this.recipes = recipes;
    this.states = states;
    this.memory = memory;
    this.listener = listener;
    policy = guide.policy();
    foresight = guide.foresight();
    costs = new RecomputeCosts(recipes, states, policy);
    evictor = new Evictor(recipes, states, policy, foresight, costs);
  }

  /** How many storages were looked at to find those to evict. */
  long work() {
    return costs.work();
  }

  void use(int storage, double now) {
    states.lastUse[storage] = now;
    evictor.update(storage);
  }

  /** Changes by how many users a storage is kept in memory. */
  void lock(int storage, int by) {
    states.locks[storage] += by;
    evictor.update(storage);
  }

  /** To be called when a storage becomes evictable, or is not any more. */
  void update(int storage) {
    evictor.update(storage);
  }

  void setPinned(int storage, boolean pinned) {
    states.isPinned[storage] = pinned;
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
    long handle = bytes == 0 ? StorageMemory.NONE : room(op, storage, bytes, waiting, now);
    states.settle(storage, handle);
    listener.settled(storage, bytes);
    costs.recomputed(storage);
  }

  /** Gives the memory of a storage to a result of an op. */
  void replace(int storage, int by) {
    long bytes = recipes.bytes(storage);
    long handle = bytes == 0 ? StorageMemory.NONE : memory.pass(states.handle[storage], bytes, by);
    states.vacate(storage);
    states.settle(by, handle);
    listener.replaced(storage, by, bytes);
    evictor.update(storage);
    costs.evicted(storage);
    costs.recomputed(by);
  }

  /**
   * A handle to the workspace of an op, or NONE where it takes none. It must be given back before a
   * storage gets memory.
   *
   * @throws NoRoomException when nothing is left to evict
   */
  long workspace(int op, WaitingOps waiting, double now) {
    long bytes = recipes.workspace(op);
    // Nobody reads the tag: the workspace goes before the next choice of what to evict.
    return bytes == 0 ? StorageMemory.NONE : room(op, recipes.storages(), bytes, waiting, now);
  }

  /** Takes back a workspace. */
  void giveWorkspace(int op, long handle) {
    if (handle != StorageMemory.NONE) {
      memory.give(handle, recipes.workspace(op));
    }
  }

  /** Adopts the new numbers of ops, values and storages. */
  void renumber(Recipes.Renumbered to) {
    states.renumber(to);
    costs = new RecomputeCosts(recipes, states, policy);
    evictor = new Evictor(recipes, states, policy, foresight, costs);
    for (int storage = 0; storage < recipes.storages(); storage++) {
      if (states.isResident[storage]) {
        if (recipes.bytes(storage) > 0) {
          memory.renumber(states.handle[storage], storage);
        }
        evictor.update(storage);
      } else if (states.lives[storage] > 0) {
        costs.evicted(storage);
      }
    }
  }

  private long room(int op, int storage, long bytes, WaitingOps waiting, double now) {
    int life = storage < recipes.storages() ? states.lives[storage] : 0;
    boolean isGathered = false;
    while (true) {
      long handle = memory.take(storage, bytes, life);
      if (handle != StorageMemory.NONE) {
        return handle;
      }
      int count = evictor.choose(memory, bytes, now);
      for (int i = 0; i < count; i++) {
        evict(evictor.victim(i));
      }
      evictionsForRoom += count;
      if (count > 0) {
        continue;
      }
      isGathered = !isGathered && gather(bytes, now);
      boolean isRoom = isGathered || policy != Policy.NONE && waiting.letGo(this::evictIfHeldOnce);
      if (!isRoom) {
        throw new RoomReport(recipes, states, memory).refusal(op, bytes, waiting);
      }
    }
  }

  /**
   * Joins the gaps between storages that must stay, by moving storages, and evicts what that takes;
   * false where it cannot.
   */
  private boolean gather(long bytes, double now) {
    if (!(memory instanceof StorageMemory.Placed placed) || placed.mover().isEmpty()) {
      return false;
    }
    while (memory.capacity() - memory.used() < BlockArena.rounded(bytes)) {
      if (evictor.chooseOne(now) == 0) {
        return false;
      }
      evict(evictor.victim(0));
      evictionsForRoom++;
    }
    moveDown(placed.arena(), placed.mover().get());
    return true;
  }

  /** Moves each storage that is not pinned down to the end of the one below it. */
  private void moveDown(BlockArena arena, StorageMemory.Mover mover) {
    IntStream.Builder found = IntStream.builder();
    for (int block = arena.firstBlock(); block != BlockArena.NONE; block = arena.after(block)) {
      if (arena.tag(block) != BlockArena.NONE) {
        found.add(arena.tag(block));
      }
    }
    long end = 0;
    for (int storage : found.build().toArray()) {
      long at = arena.offset(states.handle[storage]);
      long bytes = recipes.bytes(storage);
      if (at > end && !states.isPinned[storage]) {
        arena.free(states.handle[storage]);
        states.handle[storage] = arena.allocateAt(end, bytes, storage);
        mover.move(at, end, bytes);
        at = end;
      }
      end = at + BlockArena.rounded(bytes);
    }
  }

  /** Evicts an input that only one waiting op holds; false where it may not go. */
  private boolean evictIfHeldOnce(int storage) {
    if (states.locks[storage] != 1) {
      return false;
    }
    states.locks[storage]--;
    if (!states.isEvictable(storage)) {
      states.locks[storage]++;
      return false;
    }
    evict(storage);
    evictionsForRoom++;
    return true;
  }

  /** Takes the memory of a resident storage. */
  void evict(int storage) {
    long bytes = recipes.bytes(storage);
    if (bytes > 0) {
      memory.give(states.handle[storage], bytes);
    }
    states.vacate(storage);
    listener.vacated(storage);
    evictor.update(storage);
    costs.evicted(storage);
    evictions++;
  }
}
