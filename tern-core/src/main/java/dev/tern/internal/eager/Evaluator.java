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
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Runs single ops in a block of memory of fixed size and keeps their values; those for which there
 * is no room are dropped and computed again when they are read. What a run of an op takes is
 * measured. For one thread, the worker of an {@link Eager}.
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

  /** By number of the op. */
  private List<Recipe> byOp = new ArrayList<>();

  private int opsToForget = FEW_OPS;
  private long runs;
  private long runsAgain;

  /**
   * @param memory address of {@code bytes} bytes
   * @param isClosed asked before each run of an op; where it says so no more are run
   * @param unreachable finds values, at some cost, that may be given up
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

  /** Runs an op; where that fails, or one of its operands has, its value is a failure. */
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

  /** Runs an op unless an operand has failed, as one may have whose memory was reclaimed. */
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
    int value = recipes.addOutput(recipe.bytes());
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
      case Recipe.Operand.Leaf(Buffer buffer) -> buffer.address();
      case Recipe.Operand.Value(SessionValue held) -> address(held);
    };
  }

  private long address(SessionValue held) {
    int storage = recipes.storage(held.number);
    return recipes.bytes(storage) == 0 ? memory : memory + arena.offset(residency.handle(storage));
  }

  /** Reads a value where it lies. */
  interface Reader {
    void read(long address);
  }

  /** Makes a value resident and has it read; returns why there is none. */
  Optional<Failure> read(Recipe.Operand operand, Reader reader) {
    return switch (operand) {
      case Recipe.Operand.Leaf(Buffer buffer) -> {
        reader.read(buffer.address());
        yield Optional.empty();
      }
      case Recipe.Operand.Value(SessionValue held) -> read(held, reader);
    };
  }

  private Optional<Failure> read(SessionValue held, Reader reader) {
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
      reader.read(address(held));
    } finally {
      residency.unpin(held.number);
    }
    return Optional.empty();
  }

  /** Writes a value into a leaf; what was computed from its old content expires. */
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
  Optional<Failure> firstFailure(List<SessionValue> values) {
    return values.stream()
        .map(held -> Optional.ofNullable(held.failure))
        .flatMap(Optional::stream)
        .findFirst();
  }

  /** Keeps a value resident until it is unpinned, unless it has failed when room was made. */
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

  /** Gives up a value that nobody can ask for any more; what was computed from it stays. */
  void release(SessionValue held) {
    if (held.isReferred) {
      held.isReferred = false;
      residency.release(held.number);
    }
  }

  /**
   * Notes that leaves are about to be written. What was computed from them cannot be computed again
   * from here on: values that were asked for are kept, the others go when nobody needs them.
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

  /** Lets go of what came up on the way and was computed from leaves. */
  private void disownStale(Predicate<Buffer> leaves) {
    Set<SessionValue> stale = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int op = 0; op < byOp.size(); op++) {
      Recipe recipe = byOp.get(op);
      if (!recipes.isRepeatable(op)) {
        continue;
      }
      if (recipe.reads(leaves) || readsAny(recipe, stale)) {
        stale.add(recipe.result());
        disownUnlessWanted(recipe.result());
      }
    }
  }

  private static boolean readsAny(Recipe recipe, Set<SessionValue> values) {
    for (Recipe.Operand operand : recipe.operands()) {
      if (operand instanceof Recipe.Operand.Value(SessionValue held) && values.contains(held)) {
        return true;
      }
    }
    return false;
  }

  private void disownUnlessWanted(SessionValue held) {
    if (held.isReferred && !held.isWanted) {
      held.isReferred = false;
      residency.disown(held.number);
    }
  }

  /**
   * Frees memory of what nobody needs any more and cannot be evicted, as it cannot be computed
   * again; false where there is none.
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
    for (int op = 0; op < byOp.size(); op++) {
      if (!recipes.isRepeatable(op) && byOp.get(op).result().isReferred) {
        return true;
      }
    }
    return false;
  }

  /** Forgets how to compute what nobody needs any more; true where that freed memory. */
  private boolean forget() {
    long bytes = arena.statistics().allocatedBytes().current();
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
    return arena.statistics().allocatedBytes().current() < bytes;
  }

  /** What was done so far. */
  Eager.Statistics statistics() {
    var bytes = arena.statistics().allocatedBytes();
    return new Eager.Statistics(
        runs,
        runsAgain,
        residency.evictionsForRoom(),
        bytes.current(),
        bytes.peak(),
        arena.capacity(),
        recipes.ops());
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
