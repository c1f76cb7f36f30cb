package dev.tern.bench;

import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.residency.NoRoomException;
import dev.tern.internal.residency.Policy;
import dev.tern.internal.residency.Recipes;
import dev.tern.internal.residency.Space;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

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
      if (isRepeatable && reads.length > 0 && random.nextInt(5) == 0) {
        recipes.addView(reads[random.nextInt(reads.length)]);
      } else {
        addStorage(8L * (random.nextInt(8) == 0 ? 0 : random.nextInt(1, 40)), op);
      }
    }
    return op;
  }

  private void addStorage(long bytes, int op) {
    int storage = recipes.storages();
    recipes.addOutput(bytes);
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

  /** True when a value is there or can be computed again. */
  boolean isAvailable(int value) {
    return value < recipes.values() && (isReferred(value) || isRepeatable(recipes.storage(value)));
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
  void requireLegitimate(Policy policy, boolean isPlaced, Space space, NoRoomException refusal) {
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
