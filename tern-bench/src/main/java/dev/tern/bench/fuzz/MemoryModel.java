package dev.tern.bench.fuzz;

import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.NoRoomException;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Recipes;
import dev.tern.internal.remat.StorageMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A graph for {@link MemoryFuzz}, evaluated plainly: what each storage holds, who refers to it and
 * what may be asked of it.
 */
final class MemoryModel {
  private static final int NEAR = 30;
  private static final long MOST_RUNS = 1_000_000;

  private final Recipes recipes = new Recipes();
  private final List<int[]> inputs = new ArrayList<>();
  private final List<Boolean> hasRun = new ArrayList<>();
  private long[] content = new long[64];
  private int[] references = new int[64];
  private boolean[] isPinned = new boolean[64];
  private int freshStorages;
  private long runsSinceNew;

  Recipes recipes() {
    return recipes;
  }

  /** A random op on values that can be had; returns its number. */
  int addOp(SplittableRandom random) {
    int[] reads = random.ints(random.nextInt(4), 0, Math.max(1, recipes.values())).toArray();
    if (random.nextInt(4) > 0) {
      int low = Math.max(0, recipes.values() - NEAR);
      reads = Arrays.stream(reads).map(value -> Math.max(low, value)).toArray();
    }
    reads = Arrays.stream(reads).filter(this::isAvailable).toArray();
    boolean isRepeatable = random.nextInt(40) > 0;
    int op = recipes.addOp(random.nextInt(6), isRepeatable, reads);
    recipes.name(op, "drawn");
    inputs.add(reads);
    hasRun.add(false);
    runsSinceNew = 0;
    for (int outputs = random.nextInt(4); outputs > 0; outputs--) {
      int shown =
          random.nextInt(5) == 0 && reads.length > 0 ? reads[random.nextInt(reads.length)] : -1;
      if (isRepeatable && shown >= 0 && !isOverwritten(op, shown)) {
        recipes.addView(shown);
      } else {
        addStorage(random, op);
      }
    }
    return op;
  }

  private void addStorage(SplittableRandom random, int op) {
    int storage = recipes.storages();
    int over = random.nextInt(3) == 0 ? overwritable(op) : -1;
    long bytes = 8L * (random.nextInt(8) == 0 ? 0 : random.nextInt(1, 40));
    recipes.addOutput(over < 0 ? bytes : recipes.bytes(recipes.storage(over)), over);
    if (storage == content.length) {
      content = Arrays.copyOf(content, 2 * storage);
      references = Arrays.copyOf(references, 2 * storage);
      isPinned = Arrays.copyOf(isPinned, 2 * storage);
    }
    long hash = storage;
    for (int input : inputs.get(op)) {
      hash = MemoryFuzz.mix(hash ^ content[recipes.storage(input)]);
    }
    content[storage] = hash;
    freshStorages = storage + 1;
  }

  /** An input that only one reference keeps and no result is written over yet, or -1. */
  private int overwritable(int op) {
    for (int input : inputs.get(op)) {
      int storage = recipes.storage(input);
      boolean isFree = references[storage] == 1 && !isPinned[storage];
      for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
        isFree &=
            recipes.storage(value) != storage && recipes.takes(recipes.storage(value)) != storage;
      }
      if (isFree) {
        return input;
      }
    }
    return -1;
  }

  private boolean isOverwritten(int op, int value) {
    return Arrays.stream(overwritten(op))
        .anyMatch(input -> recipes.storage(input) == recipes.storage(value));
  }

  /** The inputs that results of an op are written over: nobody needs them after it. */
  int[] overwritten(int op) {
    return IntStream.range(recipes.firstOutput(op), recipes.endOutput(op))
        .filter(value -> !recipes.isView(value))
        .map(value -> recipes.takes(recipes.storage(value)))
        .filter(storage -> storage >= 0)
        .map(recipes::root)
        .toArray();
  }

  /** Each result of a new op has a reference. */
  void adopt(int op) {
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      references[recipes.storage(value)]++;
    }
  }

  int[] inputs(int op) {
    return inputs.get(op);
  }

  /** The first word of a storage; the others count up from it. */
  long content(int storage) {
    return content[storage];
  }

  boolean isReferred(int value) {
    return references[recipes.storage(value)] > 0;
  }

  void refer(int value, int by) {
    references[recipes.storage(value)] += by;
  }

  void setPinned(int value, boolean pinned) {
    isPinned[recipes.storage(value)] = pinned;
  }

  /**
   * True when a value is there or can be computed again. A view whose op cannot run again is not
   * asked for: its storage may have gone and come back without it.
   */
  boolean isAvailable(int value) {
    if (value >= recipes.values()) {
      return false;
    }
    boolean mayRun = recipes.isRepeatable(recipes.maker(value));
    return recipes.isView(value)
        ? mayRun && (isReferred(value) || isRepeatable(recipes.storage(value)))
        : mayRun || isReferred(value);
  }

  private boolean isRepeatable(int storage) {
    return recipes.isRepeatable(recipes.maker(recipes.root(storage)));
  }

  /** True when a storage must have memory. */
  boolean mustStay(int storage) {
    boolean isLasting = references[storage] > 0 && !isRepeatable(storage);
    return hasRun.get(recipes.maker(recipes.root(storage))) && (isPinned[storage] || isLasting);
  }

  /** Checks that an op that runs may, and notes it. */
  void requireMayRun(int op, boolean again) {
    MemoryFuzz.require(hasRun.get(op) == again, "op %d is said wrongly to run again", op);
    MemoryFuzz.require(!again || recipes.isRepeatable(op), "op %d must not run again", op);
    MemoryFuzz.require(++runsSinceNew < MOST_RUNS, "op %d runs without end", op);
    hasRun.set(op, true);
  }

  /** A refusal is wrong where all storages there are fit together. */
  void requireLegitimate(
      Policy policy, boolean isPlaced, StorageMemory space, NoRoomException refusal) {
    long all = 0;
    for (int storage = 0; storage < freshStorages; storage++) {
      all += isPlaced ? BlockArena.rounded(recipes.bytes(storage)) : recipes.bytes(storage);
    }
    boolean isWrong = !isPlaced && all <= space.capacity();
    if (isWrong || !String.valueOf(refusal.getMessage()).contains("(drawn)")) {
      throw new IllegalStateException("memory: refused with policy " + policy.name(), refusal);
    }
  }
}
