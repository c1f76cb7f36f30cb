package dev.tern.internal.remat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Keeps values within memory of fixed size (dynamic tensor rematerialization). When an op needs
 * room, storages are evicted. When an evicted value is read, the ops that make it run again. A
 * storage that is released loses its memory and keeps its recipe. Every size counts, small ones
 * too.
 *
 * <p>Recomputation uses a stack of its own, so the length of a chain is not limited. While an op
 * waits for some of its inputs, its other inputs are evicted only when nothing else may go, those
 * that wait longest first; they are then computed once more.
 *
 * <p>Not thread-safe. Decisions depend on the calls and their order alone.
 */
public final class Residency {
  /** Runs ops. */
  @FunctionalInterface
  public interface Executor {
    /**
     * Runs an op whose inputs are resident and whose results have memory.
     *
     * @param again true when it ran before
     */
    void run(int op, boolean again);
  }

  private static final int[] NOTHING = {};

  private final Recipes recipes;
  private final StorageStates states;
  private final Occupancy occupancy;
  private final Executor executor;
  private final Foresight foresight;
  private final StorageListener listener;
  private final WaitingOps waiting = new WaitingOps();
  private int runs;
  private double clock = 1;
  private long workspace = StorageMemory.NONE;

  /** A residency that manages {@code memory}, empty at first. */
  public Residency(
      Recipes recipes,
      StorageMemory memory,
      Policy policy,
      Foresight foresight,
      Executor executor) {
    this(
        recipes,
        memory,
        new Guide(policy, foresight, memory.capacity(), 0),
        executor,
        StorageListener.NONE);
  }

  Residency(
      Recipes recipes,
      StorageMemory memory,
      Guide guide,
      Executor executor,
      StorageListener listener) {
    this.recipes = recipes;
    this.executor = executor;
    this.listener = listener;
    foresight = guide.foresight();
    states = new StorageStates(recipes);
    occupancy = new Occupancy(recipes, states, memory, guide, listener);
  }

  /**
   * Runs the op added to the recipes last; each of its results then has one reference.
   *
   * @throws NoRoomException when its inputs and results do not fit together. Then, and when the
   *     executor throws, the op never has results; some storages may have been evicted
   */
  public void run(int op) {
    states.extend();
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      states.references[recipes.storage(value)]++;
    }
    listener.begins(op);
    int[] readers = readersOfLost(op);
    boolean isDone = false;
    try {
      if (readers.length > 0) {
        expireBefore(op, readers);
      }
      compute(op, false);
      isDone = true;
    } finally {
      if (!isDone) {
        abandon(op);
      }
    }
    if (readers.length > 0) {
      expire(op);
      for (int input : recipes.inputs(op)) {
        dropSpent(recipes.storage(input));
      }
    }
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      occupancy.use(recipes.storage(value), clock);
    }
  }

  /** Marks an op that failed as not repeatable and gives up its results. */
  private void abandon(int op) {
    recipes.expire(op);
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      states.references[recipes.storage(value)]--;
    }
  }

  /** The ops that read storages which results of an op take and which cannot be had again. */
  private int[] readersOfLost(int op) {
    boolean takes = false;
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      takes |= recipes.takes(recipes.storage(value)) >= 0;
    }
    // Most ops take nothing: they pay for no stream.
    return !takes
        ? NOTHING
        : IntStream.range(recipes.firstOutput(op), recipes.endOutput(op))
            .filter(value -> !recipes.isView(value))
            .map(value -> recipes.takes(recipes.storage(value)))
            .filter(input -> input >= 0 && recipes.isLasting(input))
            .flatMap(input -> Arrays.stream(Expiry.readers(recipes, input)))
            .toArray();
  }

  /** Expires ops while the inputs of {@code op}, which runs next, are kept resident. */
  private void expireBefore(int op, int[] readers) {
    List<Integer> held = new ArrayList<>();
    try {
      for (int input : recipes.inputs(op)) {
        ensure(input);
        held.add(recipes.storage(input));
        occupancy.lock(recipes.storage(input), 1);
        states.references[recipes.storage(input)]++;
      }
      expire(Arrays.stream(readers).filter(reader -> reader != op).toArray());
    } finally {
      for (int storage : held) {
        occupancy.lock(storage, -1);
        states.references[storage]--;
      }
    }
  }

  public void retain(int value) {
    states.references[recipes.storage(value)]++;
  }

  /** Takes a reference off; memory of a storage without references goes back, its recipe stays. */
  public void release(int value) {
    int storage = recipes.storage(value);
    if (states.references[storage] <= 0) {
      throw new IllegalStateException(
          "release: got value " + value + " without references, expected one; release it once");
    }
    states.references[storage]--;
    if (states.references[storage] == 0 && states.isEvictable(storage)) {
      occupancy.evict(storage);
    }
  }

  /** Takes a reference off; memory of a storage without references stays until room is needed. */
  public void disown(int value) {
    states.references[recipes.storage(value)]--;
  }

  /**
   * Takes a reference off, as {@link #release}. Memory of a storage without references goes back
   * even if the storage cannot be computed again; then the ops that read it cannot run again
   * either.
   */
  public void free(int value) {
    release(value);
    int storage = recipes.storage(value);
    if (states.references[storage] == 0 && states.isResident[storage]) {
      expire(Expiry.readers(recipes, storage));
      dropSpent(storage);
    }
  }

  /**
   * Notes that ops cannot run again, as something that they read is about to change. Before that,
   * referenced values that need them are made resident. Afterwards, results of these ops to which
   * nobody refers lose their memory, and the ops that read such results cannot run again either.
   *
   * @throws NoRoomException when there is no room for these values; the ops can still run again
   */
  public void expire(int... ops) {
    expire(true, ops);
  }

  /** As {@link #expire}, but referenced values that are not resident are lost. */
  public void lose(int... ops) {
    expire(false, ops);
  }

  private void expire(boolean keeps, int... ops) {
    listener.expires();
    Deque<int[]> ahead = new ArrayDeque<>();
    Set<Integer> unreferenced = new LinkedHashSet<>();
    ahead.add(ops);
    while (!ahead.isEmpty()) {
      for (int storage : expireThese(keeps, ahead.remove())) {
        if (unreferenced.add(storage)) {
          ahead.add(Expiry.readers(recipes, storage));
        }
      }
    }
    unreferenced.forEach(this::dropSpent);
  }

  private void dropSpent(int storage) {
    if (states.isSpent(storage)) {
      occupancy.evict(storage);
    }
  }

  /** Expires ops and their dependents; returns their storages without references. */
  private int[] expireThese(boolean keeps, int[] ops) {
    List<Integer> kept = new ArrayList<>();
    try {
      Expiry expiry = new Expiry(recipes, states, ops);
      // Room for one of them may push out another.
      for (int[] wanted = expiry.wanted(); keeps && wanted.length > 0; wanted = expiry.wanted()) {
        ensure(wanted[0]);
        occupancy.lock(recipes.storage(wanted[0]), 1);
        kept.add(wanted[0]);
        expiry = new Expiry(recipes, states, ops);
      }
      listener.expires();
      return expiry.apply(occupancy);
    } finally {
      kept.forEach(value -> occupancy.lock(recipes.storage(value), -1));
    }
  }

  /** Makes a value resident until it is unpinned. */
  public void pin(int value) {
    listener.pins(recipes.storage(value));
    ensure(value);
    occupancy.setPinned(recipes.storage(value), true);
  }

  public void unpin(int value) {
    occupancy.setPinned(recipes.storage(value), false);
  }

  /**
   * Makes a value resident; the ops that this takes run again.
   *
   * @throws LostValueException when something that it takes cannot run again
   */
  public void ensure(int value) {
    if (!states.isDefined[value]) {
      int maker = recipes.maker(value);
      requireRepeatable(maker, value);
      compute(maker, true);
    }
  }

  public boolean isResident(int value) {
    return states.isDefined[value];
  }

  /** The handle that the memory gave for a resident storage. */
  public long handle(int storage) {
    return states.handle[storage];
  }

  /** The handle to the workspace of the op that runs. */
  public long workspace() {
    return workspace;
  }

  /**
   * Forgets the ops that no referenced value needs, and evicts their results. The recipes number
   * the other ops, values and storages anew, in the same order.
   *
   * @return the new number of each op by its old one; negative for an op that was forgotten
   */
  public int[] forget() {
    boolean[] kept = keptOps();
    for (int storage = 0; storage < recipes.storages(); storage++) {
      if (states.isResident[storage] && !kept[recipes.makerOfStorage(storage)]) {
        occupancy.evict(storage);
      }
    }
    Recipes.Renumbered to = recipes.retain(kept);
    occupancy.renumber(to);
    return to.ops();
  }

  /** Ops that make referenced values, and ops that these need in order to run again. */
  private boolean[] keptOps() {
    boolean[] kept = new boolean[recipes.ops()];
    boolean[] needed = new boolean[recipes.values()];
    for (int op = recipes.ops() - 1; op >= 0; op--) {
      for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
        int storage = recipes.storage(value);
        if (needed[value] || states.references[storage] > 0 || states.isPinned[storage]) {
          kept[op] = true;
          needed[recipes.root(storage)] = true;
        }
      }
      if (kept[op] && recipes.isRepeatable(op)) {
        for (int input : recipes.inputs(op)) {
          needed[input] = true;
        }
      }
    }
    return kept;
  }

  /** How many storages were evicted or released. */
  public long evictions() {
    return occupancy.evictions;
  }

  /** How many storages were evicted because there was no room. */
  public long evictionsForRoom() {
    return occupancy.evictionsForRoom;
  }

  /** How many storages were looked at to choose those to evict. */
  long work() {
    return occupancy.work();
  }

  /** Runs an op after those that make its missing inputs. */
  private void compute(int op, boolean again) {
    boolean isDone = false;
    try {
      push(op);
      while (waiting.size() > 0) {
        int top = waiting.top();
        int missing = lockInputs(top);
        if (missing >= 0) {
          int maker = recipes.maker(missing);
          requireRepeatable(maker, missing);
          push(maker);
          continue;
        }
        execute(top, again || waiting.size() > 1);
        unlockInputs(waiting.firstHeld());
        waiting.pop();
        drop(foresight.dropsAfter(runs++));
      }
      isDone = true;
    } finally {
      if (!isDone) {
        unlockInputs(0);
        waiting.clear();
      }
    }
  }

  private void drop(int[] storages) {
    for (int storage : storages) {
      // A run that differs from what was foreseen may not have made the storage yet.
      if (storage < recipes.storages() && states.isEvictable(storage)) {
        occupancy.evict(storage);
      }
    }
  }

  private void requireRepeatable(int op, int value) {
    if (!recipes.isRepeatable(op)) {
      throw new LostValueException(
          op,
          ("residency: got value %d, which was released and cannot be computed again, expected a"
                  + " live one; keep a reference to it")
              .formatted(value));
    }
  }

  /** Puts an op on the stack and notes the use of its inputs. */
  private void push(int op) {
    int[] inputs = recipes.inputs(op);
    for (int input : inputs) {
      occupancy.use(recipes.storage(input), clock);
    }
    waiting.push(op, inputs.length);
  }

  /** Locks the inputs that are resident; returns one that is not, or a negative number. */
  private int lockInputs(int op) {
    int missing = -1;
    for (int value : recipes.inputs(op)) {
      if (!states.isDefined[value]) {
        missing = missing < 0 ? value : missing;
      } else {
        hold(recipes.storage(value));
      }
    }
    return missing;
  }

  /** Lets the op on top hold a storage, unless the storage stays in any case. */
  private void hold(int storage) {
    if (recipes.isRepeatable(recipes.makerOfStorage(storage)) && !waiting.holds(storage)) {
      waiting.hold(storage);
      occupancy.lock(storage, 1);
    }
  }

  private void unlockInputs(int from) {
    for (int i = from; i < waiting.endHeld(); i++) {
      if (waiting.held(i) >= 0) {
        occupancy.lock(waiting.held(i), -1);
      }
    }
  }

  /** Runs an op and gives all of its results memory, also those that nobody asked for. */
  private void execute(int op, boolean again) {
    boolean isDone = false;
    lockResults(op, 1);
    try {
      drop(foresight.dropsBefore(runs));
      for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
        if (!recipes.isView(value) && !states.isDefined[value]) {
          settle(op, recipes.storage(value), again);
        }
      }
      workspace = occupancy.workspace(op, waiting, clock);
      try {
        executor.run(op, again);
      } finally {
        occupancy.giveWorkspace(op, workspace);
      }
      isDone = true;
    } finally {
      lockResults(op, -1);
      if (!isDone) {
        vacateResults(op);
      }
    }
    listener.ran(op);
    clock += recipes.cost(op);
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      states.isDefined[value] = true;
    }
  }

  /** Takes back the memory of results that a failed run did not fill. */
  private void vacateResults(int op) {
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      int storage = recipes.storage(value);
      if (!recipes.isView(value) && !states.isDefined[value] && states.isResident[storage]) {
        occupancy.evict(storage);
      }
    }
  }

  /** Gives a result memory: new memory, or the memory of an input which nobody else needs. */
  private void settle(int op, int storage, boolean again) {
    int input = recipes.takes(storage);
    if (input >= 0 && isFreeToTake(input, again)) {
      occupancy.replace(input, storage);
    } else {
      occupancy.settle(op, storage, waiting, clock);
    }
  }

  /** Whether a result may take an input; in the first run of the op, the recipe decides that. */
  private boolean isFreeToTake(int input, boolean again) {
    boolean isUnused = states.references[input] == 0 && !recipes.isLasting(input);
    return states.locks[input] <= 1 && !states.isPinned[input] && (!again || isUnused);
  }

  /** Locks results, so that none goes while memory is found for the others. */
  private void lockResults(int op, int by) {
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      if (!recipes.isView(value)) {
        occupancy.lock(recipes.storage(value), by);
      }
    }
  }
}
