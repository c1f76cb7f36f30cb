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
   *     executor throws, the op has no results and never will; everything else is as it was, but
   *     for what was evicted.
   */
  public void run(int op) {
    states.extend();
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      states.refer(recipes.storage(value), 1);
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
      recipes.inputs().stream(op).forEach(input -> dropSpent(recipes.storage(input)));
    }
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      occupancy.use(recipes.storage(value), clock);
    }
  }

  /** Sees to it that an op which failed is never run again. */
  private void abandon(int op) {
    recipes.expire(op);
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      states.refer(recipes.storage(value), -1);
    }
  }

  /** The ops that read what cannot be had again and what results of an op are written over. */
  private int[] readersOfLost(int op) {
    boolean takes = false;
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      takes |= recipes.takes(recipes.storage(value)) >= 0;
    }
    return !takes ? NOTHING : lostReaders(op);
  }

  private int[] lostReaders(int op) {
    return IntStream.range(recipes.firstOutput(op), recipes.endOutput(op))
        .filter(value -> !recipes.isView(value))
        .map(value -> recipes.takes(recipes.storage(value)))
        .filter(input -> input >= 0 && recipes.isLasting(input))
        .flatMap(input -> Arrays.stream(Expiry.readers(recipes, input)))
        .toArray();
  }

  /** Expires ops while the inputs of another, which is to run next, are there to stay. */
  private void expireBefore(int op, int[] readers) {
    List<Integer> held = new ArrayList<>();
    try {
      recipes.inputs().stream(op)
          .forEach(input -> {
            ensure(input);
            held.add(recipes.storage(input));
            occupancy.lock(recipes.storage(input), 1);
            states.refer(recipes.storage(input), 1);
          });
      expire(Arrays.stream(readers).filter(reader -> reader != op).toArray());
    } finally {
      for (int storage : held) {
        occupancy.lock(storage, -1);
        states.refer(storage, -1);
      }
    }
  }

  /** Adds a reference to a value. */
  public void retain(int value) {
    states.refer(recipes.storage(value), 1);
  }

  /** Takes a reference off; memory of a storage without references goes back, its recipe stays. */
  public void release(int value) {
    int storage = recipes.storage(value);
    if (states.references(storage) <= 0) {
      throw new IllegalStateException(
          "release: got value " + value + " without references, expected one; release it once");
    }
    states.refer(storage, -1);
    if (states.references(storage) == 0 && states.isEvictable(storage)) {
      occupancy.evict(storage);
    }
  }

  /** Takes a reference off; memory of a storage without references stays until room is needed. */
  public void disown(int value) {
    states.refer(recipes.storage(value), -1);
  }

  /**
   * Takes a reference off, as {@link #release}; memory of a storage without references goes back
   * also where it cannot be had again, and then what was computed from it cannot either.
   */
  public void free(int value) {
    release(value);
    int storage = recipes.storage(value);
    if (states.references(storage) == 0 && states.isResident(storage)) {
      expire(Expiry.readers(recipes, storage));
      dropSpent(storage);
    }
  }

  /**
   * Notes that ops cannot run again, as something that they read is about to change. Referenced
   * values that would need them are made resident before; what they made and nobody refers to goes,
   * and with it what could be computed from that.
   *
   * @throws NoRoomException when there is no room for these values; the ops can still run again
   */
  public void expire(int... ops) {
    expire(true, ops);
  }

  /** The same, but referenced values that are not resident are lost. */
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

  /** Returns the storages with what they made that nobody refers to. */
  private int[] expireThese(boolean keeps, int[] ops) {
    List<Integer> kept = new ArrayList<>();
    try {
      Expiry expiry = Expiry.of(recipes, states, ops);
      // What one of them takes to compute may push out another.
      for (int[] wanted = expiry.wanted(); keeps && wanted.length > 0; wanted = expiry.wanted()) {
        ensure(wanted[0]);
        occupancy.lock(recipes.storage(wanted[0]), 1);
        kept.add(wanted[0]);
        expiry = Expiry.of(recipes, states, ops);
      }
      listener.expires();
      return expiry.apply(occupancy);
    } finally {
      kept.forEach(value -> occupancy.lock(recipes.storage(value), -1));
    }
  }

  /** Makes a value resident and keeps it so until it is unpinned. */
  public void pin(int value) {
    listener.pins(recipes.storage(value));
    ensure(value);
    occupancy.setPinned(recipes.storage(value), true);
  }

  /** Lets a pinned value be evicted again. */
  public void unpin(int value) {
    occupancy.setPinned(recipes.storage(value), false);
  }

  /**
   * Makes a value resident, by running again what it takes.
   *
   * @throws LostValueException when something that it takes cannot run again
   */
  public void ensure(int value) {
    if (!states.isDefined(value)) {
      int maker = recipes.maker(value);
      requireRepeatable(maker, value);
      compute(maker, true);
    }
  }

  /** True when a value can be read as it is. */
  public boolean isResident(int value) {
    return states.isDefined(value);
  }

  /** The handle that the memory gave for a resident storage. */
  public long handle(int storage) {
    return states.handle(storage);
  }

  /** The handle to the memory that the op which runs has besides its results. */
  public long workspace() {
    return workspace;
  }

  /**
   * Forgets ops whose results nobody refers to and nothing that is referred to is computed from,
   * and the memory of these results. The others are numbered anew, in the same order, and so are
   * values and storages, in the recipes too.
   *
   * @return by old number of an op its new one, or a negative number where it was forgotten
   */
  public int[] forget() {
    boolean[] kept = keptOps();
    for (int storage = 0; storage < recipes.storages(); storage++) {
      if (states.isResident(storage) && !kept[recipes.maker(recipes.root(storage))]) {
        occupancy.evict(storage);
      }
    }
    Recipes.Renumbered to = recipes.retain(kept);
    occupancy.renumber(to);
    return to.ops();
  }

  /** Those that make what is referred to, and what these would need to run again. */
  private boolean[] keptOps() {
    boolean[] kept = new boolean[recipes.ops()];
    boolean[] needed = new boolean[recipes.values()];
    for (int op = recipes.ops() - 1; op >= 0; op--) {
      for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
        int storage = recipes.storage(value);
        if (needed[value] || states.references(storage) > 0 || states.isPinned(storage)) {
          kept[op] = true;
          needed[recipes.root(storage)] = true;
        }
      }
      if (kept[op] && recipes.isRepeatable(op)) {
        recipes.inputs().stream(op).forEach(input -> needed[input] = true);
      }
    }
    return kept;
  }

  /** Time of all runs of ops so far. */
  public double time() {
    return clock - 1;
  }

  /** How many storages were evicted or released. */
  public long evictions() {
    return occupancy.evictions();
  }

  /** How many storages were evicted for want of room. */
  public long evictionsForRoom() {
    return occupancy.forRoom();
  }

  /** How many storages were looked at to find those to evict: a measure of what decisions took. */
  long work() {
    return occupancy.work();
  }

  /** Runs an op after those that make its missing inputs. */
  private void compute(int op, boolean again) {
    boolean isDone = false;
    try {
      push(op);
      while (!waiting.isEmpty()) {
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
      // A run that went another way than what is foreseen may not have come to it.
      if (storage < recipes.storages() && states.isEvictable(storage)) {
        occupancy.evict(storage);
      }
    }
  }

  private void requireRepeatable(int op, int value) {
    if (!recipes.isRepeatable(op)) {
      throw new LostValueException(
          op,
          "residency: got value "
              + value
              + ", which was released and cannot be computed again, expected a live one; keep a"
              + " reference to it");
    }
  }

  /** Puts an op on the stack; its inputs are used from here on. */
  private void push(int op) {
    int count = 0;
    IntLists inputs = recipes.inputs();
    for (int cell = inputs.first(op); cell >= 0; cell = inputs.next(cell)) {
      occupancy.use(recipes.storage(inputs.get(cell)), clock);
      count++;
    }
    waiting.push(op, count);
  }

  /** Locks the inputs that are resident; returns one that is not, or a negative number. */
  private int lockInputs(int op) {
    int missing = -1;
    IntLists inputs = recipes.inputs();
    for (int cell = inputs.first(op); cell >= 0; cell = inputs.next(cell)) {
      int value = inputs.get(cell);
      if (!states.isDefined(value)) {
        missing = missing < 0 ? value : missing;
      } else {
        hold(recipes.storage(value));
      }
    }
    return missing;
  }

  /** Has the op on top hold a storage, unless it stays in any case. */
  private void hold(int storage) {
    if (recipes.isRepeatable(recipes.maker(recipes.root(storage))) && !waiting.holds(storage)) {
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

  /** Runs an op; all of its results have memory then, also those that nobody asked for. */
  private void execute(int op, boolean again) {
    boolean isDone = false;
    lockResults(op, 1);
    try {
      drop(foresight.dropsBefore(runs));
      for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
        if (!recipes.isView(value) && !states.isDefined(value)) {
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
      states.define(value);
    }
  }

  /** Takes the memory of results back that a run which failed has not filled. */
  private void vacateResults(int op) {
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      int storage = recipes.storage(value);
      if (!recipes.isView(value) && !states.isDefined(value) && states.isResident(storage)) {
        occupancy.evict(storage);
      }
    }
  }

  /** Gives a result memory: that of an input which serves nobody else, where it may. */
  private void settle(int op, int storage, boolean again) {
    int input = recipes.takes(storage);
    if (input >= 0 && isFreeToTake(input, again)) {
      occupancy.replace(input, storage);
    } else {
      occupancy.settle(op, storage, waiting, clock);
    }
  }

  /** At first the op's word is enough that nobody else needs its input. */
  private boolean isFreeToTake(int input, boolean again) {
    boolean isUnused = states.references(input) == 0 && !recipes.isLasting(input);
    return states.locks(input) <= 1 && !states.isPinned(input) && (!again || isUnused);
  }

  /** Those that are resident could otherwise go while memory is found for the others. */
  private void lockResults(int op, int by) {
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      if (!recipes.isView(value)) {
        occupancy.lock(recipes.storage(value), by);
      }
    }
  }
}
