package dev.tern.internal.eager;

import dev.tern.base.DType;
import dev.tern.base.Workers;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.remat.Foresight;
import dev.tern.internal.remat.LostValueException;
import dev.tern.internal.remat.NoRoomException;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Recipes;
import dev.tern.internal.remat.Residency;
import dev.tern.internal.remat.StorageMemory;
import dev.tern.internal.runtime.ElementCasts;
import dev.tern.internal.runtime.Engine;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Runs single ops in a block of memory of fixed size and keeps their values. Where room is short it
 * drops those that take least time to compute again, as measured, and computes them again when they
 * are read. Not thread-safe: only the worker of an {@link Eager} uses it.
 */
final class Evaluator {
  private static final int FEW_OPS = 1024;

  private final Workers workers;
  private final long memory;
  private final BooleanSupplier isClosed;
  private final Supplier<List<SessionValue>> unreachable;
  private final BlockArena arena;
  private final Recipes recipes = new Recipes();
  private final Residency residency;

  /** Recipes by the numbers of their ops. */
  private List<Recipe> byOp = new ArrayList<>();

  private int opsToForget = FEW_OPS;
  private long runs;
  private long runsAgain;

  /**
   * @param memory address of {@code bytes} bytes
   * @param isClosed asked before each op: no op runs once it is true
   * @param unreachable finds values of unreachable nodes; slow
   */
  Evaluator(
      Workers workers,
      long memory,
      long bytes,
      BooleanSupplier isClosed,
      Supplier<List<SessionValue>> unreachable) {
    this.workers = workers;
    this.memory = memory;
    this.isClosed = isClosed;
    this.unreachable = unreachable;
    arena = new BlockArena(bytes);
    residency =
        new Residency(
            recipes,
            new StorageMemory.Placed(
                arena,
                Foresight.NONE,
                Optional.of((from, to, size) -> Memory.copy(memory + from, memory + to, size))),
            Policy.H_DTR_EQ,
            Foresight.NONE,
            this::execute);
  }

  /** Runs an op. If it or one of its operands fails, so does its value. */
  void apply(Recipe recipe) {
    try {
      try {
        runUnlessFailed(recipe);
      } catch (NoRoomException e) {
        if (!reclaim()) {
          throw e;
        }
        runUnlessFailed(recipe);
      }
    } catch (RuntimeException | Error e) {
      requireOpen();
      recipe.result().failure = failure(recipe, e);
    }
    if (recipes.ops() >= opsToForget) {
      forget();
    }
  }

  /** Runs an op unless an operand failed; reclaiming memory makes operands fail. */
  private void runUnlessFailed(Recipe recipe) {
    Optional<Failure> failed = failedOperand(recipe);
    if (failed.isPresent()) {
      recipe.result().failure = failed.get();
    } else {
      run(recipe);
    }
  }

  private static Optional<Failure> failedOperand(Recipe recipe) {
    for (Recipe.Operand operand : recipe.operands()) {
      if (operand instanceof Recipe.Operand.Value(SessionValue held) && held.failure != null) {
        return Optional.of(held.failure);
      }
    }
    return Optional.empty();
  }

  private Failure failure(Recipe recipe, Throwable thrown) {
    return thrown instanceof LostValueException lost
        ? Failure.lost(byOp.get(lost.op()))
        : Failure.of(recipe, thrown);
  }

  private void run(Recipe recipe) {
    int op = recipes.addOp(recipe.plan().nanos(), true, recipe.reads());
    recipes.name(op, recipe);
    recipes.setWorkspace(op, recipe.plan().workspace());
    byOp.add(recipe);
    int value = recipes.addOutput(recipe.plan().bytes());
    recipe.result().number = value;
    boolean isDone = false;
    try {
      residency.run(op);
      recipe.result().isReferred = true;
      isDone = true;
    } finally {
      if (!isDone) {
        recipe.result().number = SessionValue.NONE;
        byOp.set(op, recipe.abandoned());
      }
    }
  }

  private void execute(int op, boolean again) {
    requireOpen();
    Recipe recipe = byOp.get(op);
    int[] slots = recipe.plan().slots();
    long[] operands = new long[slots.length];
    for (int i = 0; i < slots.length; i++) {
      operands[i] = address(recipe.operands().get(slots[i]));
    }
    long workspace = residency.workspace();
    recipe
        .plan()
        .run(
            workers,
            operands,
            workspace == StorageMemory.NONE ? memory : memory + arena.offset(workspace),
            address(recipe.result()));
    recipes.setCost(op, recipe.plan().nanos());
    runs++;
    runsAgain += again ? 1 : 0;
  }

  private void requireOpen() {
    if (isClosed.getAsBoolean()) {
      throw new EagerWorker.Closed(null);
    }
  }

  private long address(Recipe.Operand operand) {
    return switch (operand) {
      case Recipe.Operand.Leaf(Buffer buffer) -> {
        Engine.beforeRead(buffer);
        yield buffer.address();
      }
      case Recipe.Operand.Value(SessionValue held) -> address(held);
    };
  }

  private long address(SessionValue held) {
    int storage = recipes.storage(held.number);
    return recipes.bytes(storage) == 0 ? memory : memory + arena.offset(residency.handle(storage));
  }

  /** Makes a value resident and passes its address to the reader; returns why there is none. */
  Optional<Failure> read(Recipe.Operand operand, LongConsumer reader) {
    return switch (operand) {
      case Recipe.Operand.Leaf(Buffer buffer) -> {
        Engine.beforeRead(buffer);
        reader.accept(buffer.address());
        yield Optional.empty();
      }
      case Recipe.Operand.Value(SessionValue held) -> read(held, reader);
    };
  }

  private Optional<Failure> read(SessionValue held, LongConsumer reader) {
    if (held.failure != null) {
      return Optional.of(held.failure);
    }
    Recipe recipe = byOp.get(recipes.maker(held.number));
    try {
      pin(held);
    } catch (RuntimeException | Error e) {
      requireOpen();
      return Optional.of(failure(recipe, e));
    }
    if (held.failure != null) {
      return Optional.of(held.failure);
    }
    try {
      reader.accept(address(held));
    } finally {
      residency.unpin(held.number);
    }
    return Optional.empty();
  }

  /** Writes a value into a leaf, after {@link #expire} of the leaf. */
  Optional<Failure> store(Recipe.Operand value, Buffer leaf, long bytes) {
    return read(
        value,
        address -> {
          expire(leaf::equals);
          if (address != leaf.address()) {
            Memory.copy(address, leaf.address(), bytes);
          }
        });
  }

  /** The first failure among values. */
  static Optional<Failure> firstFailure(List<SessionValue> values) {
    return values.stream().flatMap(held -> Stream.ofNullable(held.failure)).findFirst();
  }

  /** Keeps a value resident until it is unpinned. Making room for it may fail it. */
  private void pin(SessionValue held) {
    try {
      residency.pin(held.number);
    } catch (NoRoomException e) {
      if (!reclaim()) {
        throw e;
      }
      if (held.failure == null) {
        residency.pin(held.number);
      }
    }
  }

  /** Drops a value that no caller can ask for. Values computed from it stay. */
  void release(SessionValue held) {
    if (held.isReferred) {
      held.isReferred = false;
      residency.release(held.number);
    }
  }

  /**
   * Prepares for a write of leaves. Values computed from them cannot be computed again afterwards:
   * values that callers asked for are kept, the others go when no op needs them.
   */
  void expire(Predicate<Buffer> leaves) {
    int[] readers = readers(leaves);
    if (readers.length == 0) {
      return;
    }
    disownStale(leaves);
    try {
      residency.expire(readers);
    } catch (NoRoomException e) {
      try {
        reclaim();
        residency.expire(readers(leaves));
      } catch (NoRoomException _) {
        residency.lose(readers(leaves));
      }
    }
  }

  /** Ops that read leaves and could run again. */
  private int[] readers(Predicate<Buffer> leaves) {
    return IntStream.range(0, byOp.size())
        .filter(op -> recipes.isRepeatable(op) && byOp.get(op).reads(leaves))
        .toArray();
  }

  /** Drops intermediate values that were computed from the leaves. */
  private void disownStale(Predicate<Buffer> leaves) {
    Set<SessionValue> stale = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int op = 0; op < byOp.size(); op++) {
      Recipe recipe = byOp.get(op);
      SessionValue result = recipe.result();
      if (recipes.isRepeatable(op) && (recipe.reads(leaves) || recipe.readsAny(stale))) {
        stale.add(result);
        if (result.isReferred && !result.isWanted) {
          result.isReferred = false;
          residency.disown(result.number);
        }
      }
    }
  }

  /**
   * Frees memory of values that no caller needs but that cannot be evicted, because they cannot be
   * computed again. Returns false if there are none.
   */
  private boolean reclaim() {
    boolean isFreed = forget();
    if (!isFreed && hasLasting()) {
      unreachable.get().forEach(this::release);
      isFreed = forget();
    }
    return isFreed;
  }

  private boolean hasLasting() {
    return IntStream.range(0, byOp.size())
        .anyMatch(op -> !recipes.isRepeatable(op) && byOp.get(op).result().isReferred);
  }

  /** Forgets ops whose values no caller needs; returns whether that freed memory. */
  private boolean forget() {
    long bytes = arena.allocatedBytes().current();
    int[] numbers = residency.forget();
    List<Recipe> kept = new ArrayList<>();
    for (int op = 0; op < numbers.length; op++) {
      Recipe recipe = byOp.get(op);
      SessionValue result = recipe.result();
      if (numbers[op] >= 0) {
        kept.add(recipe);
        result.number = recipes.firstOutput(numbers[op]);
      } else {
        result.number = SessionValue.NONE;
        if (result.failure == null) {
          result.failure = Failure.lost(recipe);
        }
      }
    }
    byOp = kept;
    opsToForget = Math.max(FEW_OPS, 2 * recipes.ops());
    return arena.allocatedBytes().current() < bytes;
  }

  /** What was done so far. */
  Eager.Counts counts() {
    var bytes = arena.allocatedBytes();
    long evictions = residency.evictionsForRoom();
    return new Eager.Counts(
        runs, runsAgain, evictions, recipes.ops(), new Eager.Bytes(bytes.current(), bytes.peak()));
  }

  /** Copies numbers out, converted to float. */
  static void copyOut(long address, DType type, float[] target) {
    if (type == DType.F32) {
      Memory.copyOut(address, target, 0, target.length);
      return;
    }
    for (int i = 0; i < target.length; i++) {
      target[i] = (float) ElementCasts.load(address + (long) i * type.bytes(), type);
    }
  }
}
