package dev.tern.internal.residency;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.IntStream;

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

  private final Recipes recipes;
  private final Ledger ledger;
  private final Occupancy occupancy;
  private final Executor executor;
  private final Foresight foresight;
  private final Watcher watcher;
  private final WaitingOps waiting = new WaitingOps();
  private int runs;
  private double clock = 1;

  /** A residency that manages {@code space}, empty at first. */
  public Residency(
      Recipes recipes, Space space, Policy policy, Foresight foresight, Executor executor) {
    this(recipes, space, policy, foresight, executor, Watcher.NONE);
  }

  Residency(
      Recipes recipes,
      Space space,
      Policy policy,
      Foresight foresight,
      Executor executor,
      Watcher watcher) {
    this.recipes = recipes;
    this.executor = executor;
    this.foresight = foresight;
    this.watcher = watcher;
    ledger = new Ledger(recipes);
    occupancy = new Occupancy(recipes, ledger, space, policy, foresight, watcher);
  }

  /**
   * Runs the op added to the recipes last; each of its results then has one reference.
   *
   * @throws NoRoomException when its inputs and results do not fit together; a residency that
   *     threw, or whose executor did, is of no further use
   */
  public void run(int op) {
    ledger.extend();
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      ledger.refer(recipes.storage(value), 1);
    }
    watcher.begins(op);
    int[] readers = readersOfLost(op);
    if (readers.length > 0) {
      expireBefore(op, readers);
    }
    compute(op, false);
    if (readers.length > 0) {
      expire(op);
      recipes.inputs().stream(op).forEach(input -> dropSpent(recipes.storage(input)));
    }
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      occupancy.use(recipes.storage(value), clock);
    }
  }

  /** The ops that read what cannot be had again and what results of an op are written over. */
  private int[] readersOfLost(int op) {
    return IntStream.range(recipes.firstOutput(op), recipes.endOutput(op))
        .filter(value -> !recipes.isView(value))
        .map(value -> recipes.takes(recipes.storage(value)))
        .filter(input -> input >= 0 && recipes.isLasting(input))
        .flatMap(input -> Arrays.stream(Expiry.readers(recipes, input)))
        .toArray();
  }

  /** Expires ops while the inputs of another, which is to run next, are there to stay. */
  private void expireBefore(int op, int[] readers) {
    recipes.inputs().stream(op)
        .forEach(input -> {
          ensure(input);
          occupancy.lock(recipes.storage(input), 1);
          ledger.refer(recipes.storage(input), 1);
        });
    expire(Arrays.stream(readers).filter(reader -> reader != op).toArray());
    recipes.inputs().stream(op)
        .forEach(input -> {
          occupancy.lock(recipes.storage(input), -1);
          ledger.refer(recipes.storage(input), -1);
        });
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
      occupancy.evict(storage);
    }
  }

  /**
   * Takes a reference off, as {@link #release}; memory of a storage without references goes back
   * also where it cannot be had again, and then what was computed from it cannot either.
   */
  public void free(int value) {
    release(value);
    int storage = recipes.storage(value);
    if (ledger.references(storage) == 0 && ledger.isResident(storage)) {
      expire(Expiry.readers(recipes, storage));
      dropSpent(storage);
    }
  }

  /**
   * Notes that ops cannot run again, as something that they read is about to change. Referenced
   * values that would need them are made resident before; what they made and nobody refers to goes,
   * and with it what could be computed from that.
   */
  public void expire(int... ops) {
    watcher.expires();
    Deque<int[]> ahead = new ArrayDeque<>();
    Set<Integer> unreferenced = new LinkedHashSet<>();
    ahead.add(ops);
    while (!ahead.isEmpty()) {
      for (int storage : expireThese(ahead.remove())) {
        if (unreferenced.add(storage)) {
          ahead.add(Expiry.readers(recipes, storage));
        }
      }
    }
    unreferenced.forEach(this::dropSpent);
  }

  private void dropSpent(int storage) {
    if (ledger.isSpent(storage)) {
      occupancy.evict(storage);
    }
  }

  /** Returns the storages with what they made that nobody refers to. */
  private int[] expireThese(int[] ops) {
    IntStream.Builder kept = IntStream.builder();
    Expiry expiry = Expiry.of(recipes, ledger, ops);
    // What one of them takes to compute may push out another.
    for (int[] wanted = expiry.wanted(); wanted.length > 0; wanted = expiry.wanted()) {
      ensure(wanted[0]);
      occupancy.lock(recipes.storage(wanted[0]), 1);
      kept.add(wanted[0]);
      expiry = Expiry.of(recipes, ledger, ops);
    }
    int[] unreferenced = expiry.apply(occupancy);
    kept.build().forEach(value -> occupancy.lock(recipes.storage(value), -1));
    return unreferenced;
  }

  /** Makes a value resident and keeps it so until it is unpinned. */
  public void pin(int value) {
    watcher.pins(recipes.storage(value));
    ensure(value);
    occupancy.setPinned(recipes.storage(value), true);
  }

  /** Lets a pinned value be evicted again. */
  public void unpin(int value) {
    occupancy.setPinned(recipes.storage(value), false);
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
    return occupancy.evictions();
  }

  /** How many storages were looked at to find those to evict: a measure of what decisions took. */
  long work() {
    return occupancy.work();
  }

  /** Runs an op after those that make its missing inputs. */
  private void compute(int op, boolean again) {
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
      unlockInputs();
      waiting.pop();
      dropAfterRun();
    }
  }

  private void dropAfterRun() {
    for (int storage : foresight.dropsAfter(runs++)) {
      // A run that went another way than what is foreseen may not have come to it.
      if (storage < recipes.storages() && ledger.isEvictable(storage)) {
        occupancy.evict(storage);
      }
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
      if (!ledger.isDefined(value)) {
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

  private void unlockInputs() {
    for (int i = waiting.firstHeld(); i < waiting.endHeld(); i++) {
      if (waiting.held(i) >= 0) {
        occupancy.lock(waiting.held(i), -1);
      }
    }
  }

  /** Runs an op; all of its results have memory then, also those that nobody asked for. */
  private void execute(int op, boolean again) {
    lockResults(op, 1);
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      if (!recipes.isView(value) && !ledger.isDefined(value)) {
        settle(op, recipes.storage(value), again);
      }
    }
    executor.run(op, again);
    watcher.ran(op);
    clock += recipes.cost(op);
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      ledger.define(value);
    }
    lockResults(op, -1);
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
    boolean isUnused = ledger.references(input) == 0 && !recipes.isLasting(input);
    return ledger.locks(input) <= 1 && !ledger.isPinned(input) && (!again || isUnused);
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
