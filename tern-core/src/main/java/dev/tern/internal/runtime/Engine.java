package dev.tern.internal.runtime;

import dev.tern.base.DType;
import dev.tern.base.ProductMath;
import dev.tern.base.Shape;
import dev.tern.base.Workers;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.kernel.emit.CompiledKernel;
import dev.tern.internal.kernel.matmul.MatMul;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.plan.Plan;
import dev.tern.internal.plan.PlanCache;
import dev.tern.internal.plan.Planner;
import dev.tern.internal.remat.NoRoomException;
import dev.tern.internal.remat.Trace;
import dev.tern.internal.remat.search.ScheduleFinder;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What a device computes with: threads, memory under one budget, and the plans made so far.
 * Programs of equal structure share a plan. {@link #bind} makes a program ready to run many times;
 * {@link #get} computes one value. A session allocates memory here and runs plans of single ops
 * itself.
 */
public final class Engine implements AutoCloseable {
  private static final int ALIGNMENT = 64;

  private final Workers workers;
  private final Allocator allocator;
  private final long stepBudget;
  private volatile boolean closed;
  private final PlanCache plans;
  private final PackedConstants constants;
  private final Optional<Accelerator> accelerator;

  /** Open sessions that compute with this engine or read its memory. */
  private final List<PendingReads> readers = new CopyOnWriteArrayList<>();

  /** A class of its own, so that the shared threads start when they are first used. */
  private static final class Shared {
    static final Engine INSTANCE =
        new Engine(Runtime.getRuntime().availableProcessors(), Long.MAX_VALUE, Long.MAX_VALUE);
  }

  /**
   * Computes with {@code threads} threads.
   *
   * @param budget the most bytes of off-heap memory
   * @param stepBudget the most of these bytes for the values of one computation
   */
  public Engine(int threads, long budget, long stepBudget) {
    this(threads, budget, stepBudget, Optional.empty());
  }

  private Engine(int threads, long budget, long stepBudget, Optional<Accelerator> accelerator) {
    this.accelerator = accelerator;
    workers = Workers.of(threads);
    plans = new PlanCache(threads);
    allocator = Allocator.of(budget);
    constants = new PackedConstants(allocator);
    this.stepBudget = stepBudget;
  }

  /**
   * Computes on a CUDA device; leaves and what sessions and single values need stay with the
   * processor.
   *
   * @param ordinal number of the device
   * @param threads that serve what is not computed on the device
   * @param budget the most bytes of the host's off-heap memory; leaves, whose memory is pinned,
   *     have as much again
   * @param stepBudget the most bytes of the device's memory for the values of one computation
   * @param math how the device multiplies matrices
   */
  public static Engine cuda(
      int ordinal, int threads, long budget, long stepBudget, ProductMath math) {
    return new Engine(
        threads, budget, stepBudget, Optional.of(Accelerator.cuda(ordinal, math, budget)));
  }

  /** Whether programs are computed on a device beside the processor. */
  public boolean isAccelerated() {
    return accelerator.isPresent();
  }

  /** An engine of all cores without a budget, for tensors that are computed without a device. */
  public static Engine shared() {
    return Shared.INSTANCE;
  }

  public Workers workers() {
    return workers;
  }

  public Allocator allocator() {
    return allocator;
  }

  /** The blocks in memory and the recorded history, as JSON. */
  public String memorySnapshot() {
    return MemoryJson.of(allocator.snapshot()).toString();
  }

  /** A resident tensor of undefined content in this engine's memory, for {@code holder}. */
  public Node allocate(Shape shape, DType type, String holder) {
    long bytes = (long) shape.elements() * type.bytes();
    long address =
        accelerator.isPresent()
            ? accelerator.get().pinned().allocate(bytes, holder)
            : allocator.allocate(bytes, holder);
    return Nodes.leaf(new Buffer(address, bytes, this), shape, type);
  }

  /** Computes {@code node} and copies it out, converted to float. */
  public float[] get(Node node) {
    float[] result = new float[node.shape().elements()];
    compute(
        node,
        address -> {
          for (int i = 0; i < result.length; i++) {
            result[i] =
                (float) ElementCasts.load(address + (long) i * node.type().bytes(), node.type());
          }
        });
    return result;
  }

  /** Computes {@code node}, I32 or I64, and copies it out. */
  public long[] getLongs(Node node) {
    long[] result = new long[node.shape().elements()];
    compute(
        node,
        address -> {
          for (int i = 0; i < result.length; i++) {
            result[i] =
                node.type() == DType.I64
                    ? Memory.getLong(address + 8L * i)
                    : Memory.getInt(address + 4L * i);
          }
        });
    return result;
  }

  private synchronized void compute(Node node, LongConsumer reader) {
    Program program = Program.of(List.of(node), List.of());
    program.leaves().forEach(leaf -> beforeRead(((Op.Leaf) leaf.op()).buffer()));
    try (Bound bound = bindHere(program, stepBudget, ScheduleFinder.QUICK, Set.of())) {
      bound.run();
      reader.accept(bound.execution().output(0));
    }
  }

  /**
   * Bytes of an execution's memory.
   *
   * @param bytes what it has
   * @param most what there was for it
   * @param whole what it would have without a limit
   */
  public record Sizes(long bytes, long most, long whole) {}

  /** An execution with memory of its own, given back by {@link #close}. */
  public static final class Bound implements AutoCloseable {
    private final PlanExecution execution;
    private final Program program;
    private final Engine engine;
    private final Runnable release;
    private final Sizes sizes;
    private final List<Buffer> written;
    private boolean closed;

    Bound(PlanExecution execution, Program program, Engine engine, Runnable release, Sizes sizes) {
      this.execution = execution;
      this.program = program;
      this.engine = engine;
      this.release = release;
      this.sizes = sizes;
      written =
          program.updates().stream()
              .map(update -> ((Op.Leaf) update.leaf().op()).buffer())
              .toList();
    }

    public Sizes sizes() {
      return sizes;
    }

    /** The execution; what it reads is kept alive by this object. */
    public PlanExecution execution() {
      engine.requireOpen("computation");
      if (closed) {
        throw new IllegalStateException(
            "computation: got a closed one, expected an open one; close it after its last run");
      }
      return execution;
    }

    public void run() {
      PlanExecution open = execution();
      for (int i = 0; i < written.size(); i++) {
        beforeWrite(written.get(i));
      }
      open.run();
      Reference.reachabilityFence(program);
    }

    /** What it computes, as a trace to replay. Costs are mean times of its runs, or estimates. */
    public Trace recorded() {
      Trace trace = Planner.trace(program, engine.workers.threads());
      Plan plan = execution().plan();
      long[] nanos = execution.nanos();
      int[] first = IntStream.range(0, nanos.length).filter(i -> !plan.again().get(i)).toArray();
      List<String> names = Arrays.stream(first).mapToObj(i -> plan.steps().get(i).label()).toList();
      double runs = execution.runs();
      return runs > 0 && names.equals(trace.names())
          ? trace.withCosts(Arrays.stream(first).mapToDouble(i -> nanos[i] / runs).toArray())
          : trace;
    }

    @Override
    public void close() {
      if (!closed && !engine.closed) {
        release.run();
      }
      closed = true;
    }
  }

  /** Binds a program to memory within the budget for one computation. */
  public Bound bind(Program program, ScheduleFinder finder) {
    return bind(program, stepBudget, finder, Set.of());
  }

  /**
   * The same for a program of which some leaves never change. Products read them from packed
   * copies, which stay in memory until the leaf is freed.
   */
  public Bound bind(Program program, ScheduleFinder finder, Set<Buffer> constants) {
    return bind(program, stepBudget, finder, constants);
  }

  /**
   * Plans {@code program}, or finds a plan of it, and binds it to its leaves and an arena.
   *
   * @param limit the most bytes of memory that it may take
   * @param finder decides which values are dropped and computed again where there is no room for
   *     all
   * @throws OutOfBudgetException when one of its steps alone takes more than there is
   */
  public Bound bind(Program program, long limit, ScheduleFinder finder) {
    return bind(program, limit, finder, Set.of());
  }

  private Bound bind(Program program, long limit, ScheduleFinder finder, Set<Buffer> fixed) {
    requireOpen("bind");
    if (accelerator.isEmpty()) {
      requireReadable(program);
      return bindHere(program, limit, finder, fixed);
    }
    AcceleratedExecution execution = accelerator.get().bind(program, this, limit, finder);
    return new Bound(execution, program, this, execution::close, execution.sizes());
  }

  /** Refuses leaves that a device may have newer content of, as runs do not ask for it. */
  private static void requireReadable(Program program) {
    for (Node node : program.leaves()) {
      if (((Op.Leaf) node.op()).buffer().owner() instanceof Engine other && other.isAccelerated()) {
        throw new IllegalArgumentException(
            "computation: got a variable %s of a CUDA device, expected those of the processor; compute on the device that has it"
                .formatted(node));
      }
    }
  }

  private Bound bindHere(Program program, long limit, ScheduleFinder finder, Set<Buffer> fixed) {
    MatMul.prepare();
    Plan whole = plans.plan(program, Long.MAX_VALUE, Long.MAX_VALUE, ScheduleFinder.QUICK);
    List<Optional<CompiledKernel>> kernels = Execution.kernels(whole);
    long lanes = Execution.scratchBytes(whole, workers.threads());
    long room = Math.min(limit, allocator.budget() - allocator.live());
    long most = room - lanes - ALIGNMENT;
    Plan plan = whole;
    if (whole.arenaBytes() > most) {
      // Its kernels, mostly the same, are made ready during the search.
      plan = fitted(program, limit, most, finder);
      kernels = Execution.kernels(plan);
    }
    List<Node> leaves = program.leaves();
    long[] addresses = new long[plan.leaves().length];
    for (int i = 0; i < addresses.length; i++) {
      Op.Leaf leaf = (Op.Leaf) leaves.get(plan.leaves()[i]).op();
      addresses[i] = leaf.buffer().address();
    }
    long scratch = (plan.arenaBytes() + ALIGNMENT - 1) & -ALIGNMENT;
    long bytes = scratch + Execution.scratchBytes(plan, workers.threads());
    long memory = allocator.allocate(bytes, "activations");
    Execution.Addresses at = new Execution.Addresses(addresses, memory, memory + scratch, 0);
    Execution execution = new Execution(plan, kernels, workers, at, constants.of(fixed));
    Sizes sizes = new Sizes(bytes, room, whole.arenaBytes() + lanes);
    return new Bound(execution, program, this, () -> allocator.free(memory), sizes);
  }

  private Plan fitted(Program program, long limit, long most, ScheduleFinder finder) {
    try {
      return plans.plan(program, limit, most, finder);
    } catch (NoRoomException e) {
      throw new OutOfBudgetException(
          "%s; in all there were %d bytes for its values and the scratch of its steps"
              .formatted(e.getMessage(), Math.max(0, most)));
    }
  }

  /**
   * From here on {@code reader} is told before memory of this engine is written or freed.
   *
   * @throws IllegalStateException when this engine is closed
   */
  public void addReader(PendingReads reader) {
    readers.add(reader);
    if (closed) {
      // Closing may have told the readers before this one was added.
      readers.remove(reader);
      requireOpen("session");
    }
  }

  /** Ends what {@link #addReader} began. */
  public void removeReader(PendingReads reader) {
    readers.remove(reader);
  }

  /**
   * To be called before a leaf is written from outside, or its memory is freed. Returns when no
   * session reads the leaf any more for a value that was asked for before.
   */
  public static void beforeWrite(Buffer leaf) {
    beforeWrite(leaf, null);
  }

  /** To be called before the host reads a leaf: a device may have the newer content. */
  public static void beforeRead(Buffer leaf) {
    if (leaf.owner() instanceof Engine owner && owner.accelerator.isPresent()) {
      owner.accelerator.get().beforeHostReads(leaf);
    }
  }

  /** To be called before the host writes a leaf by itself, not by a computation. */
  public static void beforeHostWrite(Buffer leaf) {
    beforeHostWrite(leaf, null);
  }

  /** The same, but {@code writer}, a session that writes the leaf itself, may still read it. */
  public static void beforeHostWrite(Buffer leaf, @Nullable PendingReads writer) {
    beforeWrite(leaf, writer);
    if (leaf.owner() instanceof Engine owner && owner.accelerator.isPresent()) {
      owner.accelerator.get().beforeHostWrites(leaf);
    }
  }

  /** To be called before the memory of a leaf is given to someone who may write it at any time. */
  public static void lend(Buffer leaf) {
    if (leaf.owner() instanceof Engine owner && owner.accelerator.isPresent()) {
      owner.accelerator.get().lend(leaf);
    }
  }

  /** To be called after a leaf was written that is constant for some computations. */
  public void repack(Buffer leaf) {
    constants.repack(leaf);
  }

  /** Frees a leaf of this engine. */
  public void free(Buffer leaf) {
    beforeWrite(leaf);
    constants.forget(leaf);
    if (accelerator.isPresent()) {
      accelerator.get().release(leaf);
      accelerator.get().pinned().free(leaf.address());
    } else {
      allocator.free(leaf.address());
    }
  }

  /** The same, but {@code writer}, a session that writes the leaf itself, may still read it. */
  public static void beforeWrite(Buffer leaf, @Nullable PendingReads writer) {
    // Each step of training comes here: without readers it allocates nothing, not even an iterator.
    if (leaf.owner() instanceof Engine owner && !owner.readers.isEmpty()) {
      for (PendingReads reader : owner.readers) {
        if (reader != writer) {
          reader.expire(leaf::equals);
        }
      }
    }
  }

  /** Ends the threads and frees all memory; tensors allocated here must not be used again. */
  @Override
  public void close() {
    closed = true;
    readers.forEach(reader -> reader.beforeClose(this));
    try (workers;
        allocator) {
      accelerator.ifPresent(Accelerator::close);
    }
  }

  public boolean isClosed() {
    return closed;
  }

  /** Throws unless this is open; {@code what} names what was about to be used. */
  public void requireOpen(String what) {
    if (closed) {
      throw new IllegalStateException(
          what + ": got a closed device, expected an open one; close it after its last user");
    }
  }
}
