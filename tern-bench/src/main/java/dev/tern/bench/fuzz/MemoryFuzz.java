package dev.tern.bench.fuzz;

import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.Foresight;
import dev.tern.internal.remat.NoRoomException;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Recipes;
import dev.tern.internal.remat.Residency;
import dev.tern.internal.remat.StorageMemory;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Random use of a {@link Residency}, whose ops write real words into real places: a result's words
 * follow from the words of the op's inputs as they lie in memory, and the first word of a storage
 * must be the one that a plain evaluation of the graph gives. So storages that overlap, inputs that
 * are not there and recipes run wrongly show as wrong words.
 *
 * <p>One instance is one graph of one seed; it has views, ops of several results, results written
 * over inputs, results without bytes, ops that must not run twice, and every policy, with and
 * without places asked for.
 */
public final class MemoryFuzz {
  /** Random places and weights; where nothing is asked for, nothing is known. */
  private record Wishes(long seed, long capacity) implements Foresight {
    @Override
    public double weight(int storage) {
      return (mix(seed + storage) & 7) == 0 ? 1e6 : 1;
    }

    @Override
    public double nextUse(int storage, int op) {
      return op + (mix(seed ^ storage) & 31);
    }

    @Override
    public double time(int op) {
      return op;
    }

    @Override
    public long offset(int storage, int life) {
      long wish = mix(seed + 31L * storage + life);
      return (wish & 3) == 0 ? ANYWHERE : 64 * ((wish >>> 8) % (capacity / 64 + 1));
    }

    @Override
    public long room() {
      return (seed & 1) == 0 ? Long.MAX_VALUE : capacity - capacity / 8;
    }
  }

  private static final int WORD = 8;
  private static final int MOST_OPS = 400;

  private final SplittableRandom random;
  private final MemoryModel model = new MemoryModel();
  private final Recipes recipes = model.recipes();
  private final Policy policy;
  private final StorageMemory space;
  private final BlockArena arena;
  private final boolean isPlaced;
  private final long[] memory;
  private final Residency residency;
  private long operations;
  private long runs;

  MemoryFuzz(long seed) {
    random = new SplittableRandom(seed);
    List<Policy> policies = Policy.PUBLISHED;
    policy = policies.get(random.nextInt(policies.size()));
    long capacity = 64L * random.nextInt(20, 120);
    arena = new BlockArena(capacity);
    isPlaced = random.nextInt(3) > 0;
    Foresight foresight =
        random.nextBoolean() ? Foresight.NONE : new Wishes(random.nextLong(), capacity);
    space =
        isPlaced ? new StorageMemory.Placed(arena, foresight) : new StorageMemory.Counted(capacity);
    memory = new long[isPlaced ? (int) capacity / WORD : 0];
    residency = new Residency(recipes, space, policy, foresight, this::execute);
  }

  /** Graph after graph until {@code most} operations are done; prints what was done. */
  static void run(long most, long firstSeed, boolean json) {
    long start = System.nanoTime();
    long operations = 0;
    long runs = 0;
    long seed = firstSeed;
    for (; operations < most; seed++) {
      MemoryFuzz fuzz = new MemoryFuzz(seed);
      try {
        operations += fuzz.run(most);
        runs += fuzz.runs;
      } catch (RuntimeException e) {
        throw new IllegalStateException(
            "fuzz: --memory 1 --seed " + seed + ": " + e.getMessage(), e);
      }
    }
    System.out.printf(
        Locale.ROOT,
        json
            ? "{\"bench\":\"fuzz\",\"operations\":%d,\"graphs\":%d,\"runs\":%d,\"seconds\":%.1f}%n"
            : "fuzz     %d operations on %d graphs, %d runs of ops, none wrong, %.1f s%n",
        operations,
        seed - firstSeed,
        runs,
        (System.nanoTime() - start) / 1e9);
  }

  /** Random operations until {@code most} are done or nothing fits any more; returns how many. */
  long run(long most) {
    try {
      while (operations < most && recipes.ops() < MOST_OPS) {
        operations++;
        operation();
      }
      finish();
    } catch (NoRoomException e) {
      model.requireLegitimate(policy, isPlaced, space, e);
    }
    return operations;
  }

  /** Runs of ops, recomputation included. */
  long runs() {
    return runs;
  }

  private void operation() {
    int kind = random.nextInt(100);
    if (recipes.values() == 0 || kind < 30) {
      int op = model.addOp(random);
      model.adopt(op);
      residency.run(op);
      for (int value : model.overwritten(op)) {
        residency.release(value);
        model.refer(value, -1);
      }
      check();
      return;
    }
    int value = random.nextInt(Math.max(0, recipes.values() - 40), recipes.values());
    if (kind < 40) {
      if (model.isAvailable(value)) {
        ensure(value);
      }
    } else if (kind < 45) {
      if (model.isReferred(value)) {
        residency.retain(value);
        model.refer(value, 1);
      }
    } else if (kind < 90) {
      if (model.isReferred(value)) {
        residency.release(value);
        model.refer(value, -1);
      }
    } else if (kind < 91) {
      if (model.isAvailable(value)) {
        residency.pin(value);
        model.setPinned(value, true);
      }
    } else {
      residency.unpin(value);
      model.setPinned(value, false);
    }
    check();
  }

  private void ensure(int value) {
    residency.ensure(value);
    require(residency.isResident(value), "ensure left value %d absent", value);
    read(recipes.storage(value), model.content(recipes.storage(value)));
  }

  private void execute(int op, boolean again) {
    runs++;
    model.requireMayRun(op, again);
    Set<Integer> taken = new HashSet<>();
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      int storage = recipes.storage(value);
      int input = recipes.isView(value) ? -1 : recipes.takes(storage);
      if (input >= 0 && !residency.isResident(recipes.root(input))) {
        taken.add(input);
        read(storage, model.content(input));
      }
    }
    for (int input : model.inputs(op)) {
      int storage = recipes.storage(input);
      require(
          residency.isResident(input) || taken.contains(storage),
          "op %d runs without its input %d",
          op,
          input);
      if (!taken.contains(storage)) {
        read(storage, model.content(storage));
      }
    }
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      if (!recipes.isView(value)) {
        write(recipes.storage(value));
      }
    }
  }

  /** The words in a storage must be those that follow from the first. */
  private void read(int storage, long content) {
    if (!isPlaced || recipes.bytes(storage) == 0) {
      return;
    }
    int from = (int) (arena.offset(residency.handle(storage)) / WORD);
    long words = recipes.bytes(storage) / WORD;
    for (int i = 0; i < words; i++) {
      require(memory[from + i] == content + i, "storage %d has a wrong word %d", storage, i);
    }
  }

  private void write(int storage) {
    if (!isPlaced || recipes.bytes(storage) == 0) {
      return;
    }
    long content = model.content(storage);
    int from = (int) (arena.offset(residency.handle(storage)) / WORD);
    long words = recipes.bytes(storage) / WORD;
    for (int i = 0; i < words; i++) {
      memory[from + i] = content + i;
    }
  }

  /** Counters are exact and what must stay is there. */
  private void check() {
    long used = 0;
    for (int storage = 0; storage < recipes.storages(); storage++) {
      boolean isResident = residency.isResident(recipes.root(storage));
      require(isResident || !model.mustStay(storage), "storage %d was lost", storage);
      long bytes = recipes.bytes(storage);
      if (isResident && bytes > 0) {
        used += isPlaced ? BlockArena.rounded(bytes) : bytes;
      }
    }
    require(space.used() == used, "%d bytes are counted, %d are in use", space.used(), used);
    require(used <= space.capacity(), "%d bytes of %d are in use", used, space.capacity());
  }

  /** Nothing that may go stays once nobody refers to it, and all can be had again. */
  private void finish() {
    for (int value = 0; value < recipes.values(); value++) {
      if (model.isAvailable(value)) {
        ensure(value);
        check();
      }
    }
    for (int value = 0; value < recipes.values(); value++) {
      residency.unpin(value);
      model.setPinned(value, false);
      while (model.isReferred(value)) {
        residency.release(value);
        model.refer(value, -1);
      }
    }
    check();
  }

  static void require(boolean holds, String what, long... numbers) {
    if (!holds) {
      Object[] boxed = new Object[numbers.length];
      for (int i = 0; i < boxed.length; i++) {
        boxed[i] = numbers[i];
      }
      throw new IllegalStateException("memory: " + what.formatted(boxed));
    }
  }

  public static long mix(long z) {
    long mixed = (z + 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
    return mixed ^ mixed >>> 31;
  }
}
