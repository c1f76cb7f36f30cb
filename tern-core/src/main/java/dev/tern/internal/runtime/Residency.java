package dev.tern.internal.runtime;

/**
 * Keeps values within a space of fixed size: evicts storages when an op needs room and has the ops
 * run again that make evicted values when they are read (dynamic tensor rematerialization). A
 * storage that is released loses its memory and keeps its recipe. Every size counts, small ones
 * too.
 *
 * <p>Recomputation uses a stack of its own, so the length of a chain is not limited. Inputs of an
 * op that waits for others of its inputs are evicted only when nothing else may go, those that wait
 * longest first, and are computed once more then.
 *
 * <p>Not thread-safe; decisions depend on the calls and their order alone.
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

  /** Gets to know where storages come and go. */
  public interface Watcher {
    /** Ignores all. */
    Watcher NONE = new Watcher() {};

    /** A storage has memory from here on. */
    default void settled(int storage, long bytes) {}

    /** A storage has no memory any more. */
    default void vacated(int storage) {}
  }

  private final Recipes recipes;
  private final Ledger ledger;
  private final Space space;
  private final Policy policy;
  private final Costs costs;
  private final Evictor evictor;
  private final Executor executor;
  private final Watcher watcher;
  private final WaitingOps waiting = new WaitingOps();
  private double clock = 1;
  private long evictions;

  /** A residency that manages {@code space}, empty at first. */
  public Residency(
      Recipes recipes,
      Space space,
      Policy policy,
      Foresight foresight,
      Executor executor,
      Watcher watcher) {
    this.recipes = recipes;
    this.space = space;
    this.policy = policy;
    this.executor = executor;
    this.watcher = watcher;
    ledger = new Ledger(recipes);
    costs = new Costs(recipes, ledger, policy);
    evictor = new Evictor(recipes, ledger, policy, foresight, costs);
  }

  /**
   * Runs the op added to the recipes last; each of its results then has one reference.
   *
   * @throws NoRoomException when its inputs and results do not fit together
   */
  public void run(int op) {
    ledger.extend();
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      ledger.refer(recipes.storage(value), 1);
    }
    compute(op, false);
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      use(recipes.storage(value));
    }
  }

  /** Adds a reference to a value. */
  public void retain(int value) {
    ledger.refer(recipes.storage(value), 1);
  }

  /** Takes a reference off; memory of a storage without references goes back, its recipe stays. */
  public void release(int value) {
    int storage = recipes.storage(value);
    if (ledger.references(storage) <= 0) {
      throw new IllegalStateException(
          "release: got value " + value + " without references, expected one; release it once");
    }
    ledger.refer(storage, -1);
    if (ledger.references(storage) == 0 && ledger.isEvictable(storage)) {
      evict(storage);
    }
  }

  /** Makes a value resident and keeps it so until it is unpinned. */
  public void pin(int value) {
    ensure(value);
    setPinned(recipes.storage(value), true);
  }

  /** Lets a pinned value be evicted again. */
  public void unpin(int value) {
    setPinned(recipes.storage(value), false);
  }

  private void setPinned(int storage, boolean pinned) {
    ledger.setPinned(storage, pinned);
    evictor.update(storage);
  }

  /** Makes a value resident, by running again what it takes. */
  public void ensure(int value) {
    if (!ledger.isDefined(value)) {
      compute(recipes.maker(value), true);
    }
  }

  /** True when a value can be read as it is. */
  public boolean isResident(int value) {
    return ledger.isDefined(value);
  }

  /** The handle that the space gave for a resident storage. */
  public long handle(int storage) {
    return ledger.handle(storage);
  }

  /** Time of all runs of ops so far. */
  public double time() {
    return clock - 1;
  }

  /** How many storages were evicted or released. */
  public long evictions() {
    return evictions;
  }

  private void use(int storage) {
    ledger.use(storage, clock);
    evictor.update(storage);
  }

  /** Runs an op after those that make its missing inputs. */
  private void compute(int op, boolean again) {
    waiting.push(op);
    touchInputs(op);
    while (!waiting.isEmpty()) {
      int top = waiting.top();
      int missing = lockInputs(top);
      if (missing >= 0) {
        int maker = recipes.maker(missing);
        requireRepeatable(maker, missing);
        waiting.push(maker);
        touchInputs(maker);
        continue;
      }
      execute(top, again || waiting.size() > 1);
      unlockInputs();
      waiting.pop();
    }
  }

  private void requireRepeatable(int op, int value) {
    if (!recipes.isRepeatable(op)) {
      throw new IllegalStateException(
          "residency: got value "
              + value
              + ", which was released and cannot be computed again, expected a live one; keep a"
              + " reference to it");
    }
  }

  private void touchInputs(int op) {
    IntLists inputs = recipes.inputs();
    for (int cell = inputs.first(op); cell >= 0; cell = inputs.next(cell)) {
      int storage = recipes.storage(inputs.get(cell));
      ledger.use(storage, clock);
      if (ledger.isEvictable(storage)) {
        evictor.update(storage);
      }
    }
  }

  /** Locks the inputs that are resident; returns one that is not, or a negative number. */
  private int lockInputs(int op) {
    int missing = -1;
    IntLists inputs = recipes.inputs();
    for (int cell = inputs.first(op); cell >= 0; cell = inputs.next(cell)) {
      int value = inputs.get(cell);
      if (!ledger.isDefined(value)) {
        missing = missing < 0 ? value : missing;
      } else if (!waiting.holds(recipes.storage(value))) {
        waiting.hold(recipes.storage(value));
        lock(recipes.storage(value), 1);
      }
    }
    return missing;
  }

  private void unlockInputs() {
    for (int i = waiting.firstHeld(); i < waiting.endHeld(); i++) {
      if (waiting.held(i) >= 0) {
        lock(waiting.held(i), -1);
      }
    }
  }

  private void lock(int storage, int by) {
    ledger.lock(storage, by);
    evictor.update(storage);
  }

  private void execute(int op, boolean again) {
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      if (!recipes.isView(value) && !ledger.isDefined(value)) {
        place(op, recipes.storage(value));
      }
    }
    executor.run(op, again);
    clock += recipes.cost(op);
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      if (!ledger.isDefined(value)) {
        ledger.define(value);
        if (!recipes.isView(value)) {
          lock(recipes.storage(value), -1);
        }
      }
    }
  }

  /** Gives a result memory; one that is resident is written over with the same bits. */
  private void place(int op, int storage) {
    long bytes = recipes.bytes(storage);
    long handle = bytes == 0 ? Space.NONE : room(op, storage, bytes);
    ledger.lock(storage, 1);
    ledger.settle(storage, handle);
    watcher.settled(storage, bytes);
    costs.recomputed(storage);
  }

  private long room(int op, int storage, long bytes) {
    int life = ledger.lives(storage);
    boolean high = policy.smallLow() && bytes >= 4 << 20;
    while (true) {
      long handle = space.take(storage, bytes, life, high);
      if (handle != Space.NONE) {
        return handle;
      }
      int count = evictor.choose(space, bytes, clock);
      for (int i = 0; i < count; i++) {
        evict(evictor.victim(i));
      }
      if (count == 0 && !evictWaiting()) {
        throw new NoRoomException(op, bytes, space);
      }
    }
  }

  /** Evicts an input of an op that waits, the longest waiting first; false where none may go. */
  private boolean evictWaiting() {
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

  private void evict(int storage) {
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
