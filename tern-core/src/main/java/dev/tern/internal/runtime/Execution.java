package dev.tern.internal.runtime;

import dev.tern.base.Workers;
import dev.tern.internal.ir.IndexRules;
import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.kernel.emit.CompiledKernel;
import dev.tern.internal.kernel.emit.Kernels;
import dev.tern.internal.kernel.matmul.BatchProduct;
import dev.tern.internal.kernel.matmul.DotInteraction;
import dev.tern.internal.kernel.matmul.DotInteraction.Samples;
import dev.tern.internal.kernel.matmul.Epilogue;
import dev.tern.internal.kernel.matmul.MatMul;
import dev.tern.internal.kernel.matmul.ProductSpec;
import dev.tern.internal.kernel.matmul.RecurrentStates;
import dev.tern.internal.kernel.ops.PairSums;
import dev.tern.internal.kernel.ops.RowIndex;
import dev.tern.internal.kernel.ops.SegmentReduction;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.plan.Plan;
import dev.tern.internal.plan.Step;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.FlightRecorder;

/**
 * A plan bound to addresses. It may run any number of times and allocates nothing then. One thread
 * at a time may run it.
 */
public final class Execution implements PlanExecution {
  private static final int ROWS_PER_TASK = 64;
  private static final int ELEMENTS_PER_TASK = 16_384;
  private static final int SCATTERED_PER_TASK = 65_536;
  private static final int MOST_SCATTERS = 8;

  /** Tasks that share runs of rows, which are long and short. */
  private static final int MOST_RUN_TASKS = 64;

  /**
   * Waiting for vector code pays for runs of more arithmetic operations than this, if many runs
   * follow.
   */
  private static final double WORTH_WAITING = 5e7;

  /** The same if perhaps no run follows. */
  private static final double WORTH_WAITING_ONCE = 5e8;

  /** The longest wait for products, as without vectors a run takes a hundred times as long. */
  private static final long MOST_WAITING_NANOS = 4_000_000_000L;

  /** The longest wait for all else. */
  private static final long MOST_WAITING_FOR_REST_NANOS = 2_500_000_000L;

  private final Plan plan;
  private final List<Optional<CompiledKernel>> kernels;
  private final Workers workers;
  private final PackedConstants.Lookup constants;
  private final long[] storages;
  private final List<Runnable> steps = new ArrayList<>();
  private final long[] nanos;

  /** When each step of the last run began, and then when the last step ended. */
  private final long[] times;

  private long runs;

  /**
   * Where a plan finds its memory.
   *
   * @param leaves the address of each storage that is a leaf
   * @param arena the address of {@code plan.arenaBytes()} bytes
   * @param scratch the address of {@link #scratchBytes} bytes
   * @param output the address of the output that lies {@link Plan#APART}, if one does
   */
  public record Addresses(long[] leaves, long arena, long scratch, long output) {}

  public Execution(
      Plan plan, List<Optional<CompiledKernel>> kernels, Workers workers, Addresses at) {
    this(plan, kernels, workers, at, PackedConstants.Lookup.NONE);
  }

  Execution(
      Plan plan,
      List<Optional<CompiledKernel>> kernels,
      Workers workers,
      Addresses at,
      PackedConstants.Lookup constants) {
    this.constants = constants;
    this.plan = plan;
    this.kernels = kernels;
    this.workers = workers;
    long[] leaves = at.leaves;
    storages = new long[leaves.length + plan.offsets().length];
    System.arraycopy(leaves, 0, storages, 0, leaves.length);
    for (int i = 0; i < plan.offsets().length; i++) {
      long offset = plan.offsets()[i];
      storages[leaves.length + i] = offset == Plan.APART ? at.output : at.arena + offset;
    }
    for (int i = 0; i < plan.steps().size(); i++) {
      steps.add(bind(plan.steps().get(i), kernels.get(i), at.scratch));
    }
    nanos = new long[steps.size()];
    times = new long[steps.size() + 1];
  }

  /** The kernel of each step, empty for a step without one. From here on the code is made ready. */
  public static List<Optional<CompiledKernel>> kernels(Plan plan) {
    return plan.steps().stream()
        .map(step -> step.kernel().map(fused -> Kernels.of(fused.spec())))
        .toList();
  }

  /** Bytes of scratch memory that the steps of a plan need, for all workers together. */
  public static long scratchBytes(Plan plan, int threads) {
    long most = 0;
    for (Step step : plan.steps()) {
      long each =
          switch (step) {
            case Step.Fused fused -> FusedTask.scratchBytes(fused);
            case Step.MatMulThen s -> FusedTask.scratchBytes(s.then());
            case Step.DotInteraction s -> dots(s).scratchBytes();
            case Step.PairSums s when s.gradient().isEmpty() -> PairSums.scratchBytes();
            case Step.Gru s -> RecurrentStates.scratchBytes(s.states().width());
            default -> 0;
          };
      most = Math.max(most, each * threads);
    }
    return most;
  }

  /** Computes outputs and stores updates. */
  @Override
  public void run() {
    // The first use of an event's class starts the recorder.
    boolean isRecorded = FlightRecorder.isInitialized() && StepEvent.isRecorded();
    long start = System.nanoTime();
    times[0] = start;
    for (int i = 0; i < steps.size(); i++) {
      if (isRecorded) {
        runRecorded(i);
      } else {
        steps.get(i).run();
      }
      long end = System.nanoTime();
      nanos[i] += end - start;
      start = end;
      times[i + 1] = end;
    }
    runs++;
  }

  private void runRecorded(int index) {
    StepEvent event = new StepEvent();
    event.begin();
    steps.get(index).run();
    event.end();
    event.what = plan.steps().get(index).label();
    event.again = plan.again().get(index);
    event.commit();
    for (Plan.Allocation dropped : plan.allocations()) {
      if (dropped.content() == Plan.Content.RECOMPUTED && dropped.to() == index + 1) {
        DropEvent drop = new DropEvent();
        drop.maker = plan.steps().get(dropped.from()).label();
        drop.bytes = dropped.bytes();
        drop.commit();
      }
    }
  }

  /**
   * Waits for the vector code of this execution, 4 seconds at most, where a run is much arithmetic:
   * scalar code would take long then, and keep the cores from the JIT.
   *
   * @param often whether many runs will follow the first
   */
  @Override
  public void awaitVectorCode(boolean often) {
    double flops = plan.steps().stream().mapToDouble(Step::flops).sum();
    if (flops <= (often ? WORTH_WAITING : WORTH_WAITING_ONCE)) {
      return;
    }
    long start = System.nanoTime();
    while (isPending() && !Thread.currentThread().isInterrupted()) {
      long most = isProductPending() ? MOST_WAITING_NANOS : MOST_WAITING_FOR_REST_NANOS;
      if (System.nanoTime() - start > most) {
        return;
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Whether vector code of this execution is being made ready, and scalar code serves. */
  @Override
  public boolean isPending() {
    return isProductPending()
        || kernels.stream().flatMap(Optional::stream).anyMatch(CompiledKernel::isPending);
  }

  private boolean isProductPending() {
    return MatMul.isPending()
        && plan.steps().stream()
            .anyMatch(step ->
                step instanceof Step.MatMul
                    || step instanceof Step.MatMulThen
                    || step instanceof Step.Gru);
  }

  /** {@link CompiledKernel#state} of a step's kernel; empty for a step without a kernel. */
  @Override
  public String state(int step) {
    return kernels.get(step).map(CompiledKernel::state).orElse("");
  }

  @Override
  public long runs() {
    return runs;
  }

  /** Nanoseconds of each step of the plan, in all runs together. */
  @Override
  public long[] nanos() {
    return nanos.clone();
  }

  /** When each step of the last run began and the last step ended: nanoseconds from its start. */
  @Override
  public long[] lastRun() {
    long[] result = new long[times.length];
    Arrays.setAll(result, i -> times[i] - times[0]);
    return result;
  }

  @Override
  public Plan plan() {
    return plan;
  }

  /** Address of output {@code index}, dense; valid until the next run. */
  @Override
  public long output(int index) {
    return address(plan.outputs().get(index));
  }

  private long address(Step.Place place) {
    return storages[place.storage()] + place.offset();
  }

  private Runnable bind(Step step, Optional<CompiledKernel> kernel, long scratch) {
    return switch (step) {
      case Step.Fused s -> {
        FusedTask task = fused(s, kernel, scratch, FusedTask.PassedRows.NONE);
        yield () -> task.run(workers);
      }
      case Step.MatMul s -> matmul(s, Epilogue.NONE);
      case Step.MatMulThen s -> matmulThen(s, fused(s.then(), kernel, scratch, passedRows(s)));
      case Step.Gather s -> gather(s);
      case Step.ScatterAdd s -> scatterAdd(s);
      case Step.SegmentReduce s -> segmentReduce(s);
      case Step.Index s -> index(s);
      case Step.Copy s -> () -> Memory.copy(address(s.in()), address(s.out()), s.bytes());
      case Step.Uniform s -> uniform(s);
      case Step.Cast s -> cast(s);
      case Step.DotInteraction s -> dotInteraction(s, scratch);
      case Step.PairSums s -> pairSums(s, scratch);
      case Step.Gru s -> gru(s, scratch);
    };
  }

  /** Computes elements {@code from} to {@code to - 1} of a step. */
  @FunctionalInterface
  private interface Range {
    void run(int from, int to, int worker);
  }

  /** Has the workers compute {@code count} elements, at most {@code each} in one task. */
  private Runnable inTasks(int count, int each, Range range) {
    int tasks = (int) ((count + each - 1L) / each);
    Workers.Task task =
        (index, worker) -> {
          int from = index * each;
          range.run(from, from + Math.min(each, count - from), worker);
        };
    return () -> workers.run(tasks, task);
  }

  private FusedTask fused(
      Step.Fused s, Optional<CompiledKernel> kernel, long scratch, FusedTask.PassedRows passed) {
    long[] operands = s.operands().stream().mapToLong(this::address).toArray();
    FusedTask.Addresses at = new FusedTask.Addresses(operands, address(s.partials()), scratch);
    return new FusedTask(s, kernel.orElseThrow(), at, passed, workers.threads());
  }

  private Runnable matmulThen(Step.MatMulThen s, FusedTask then) {
    long rows = s.passesRows() ? address(s.product().c().place()) : 0;
    int pieces = s.then().loops().isAcross() ? s.then().loops().chunks() : 0;
    Runnable product = matmul(s.product(), new Epilogue(then::range, rows, pieces));
    return () -> then.runWithin(product);
  }

  private Runnable dotInteraction(Step.DotInteraction s, long scratch) {
    DotInteraction dots = dots(s);
    long gradient = s.gradient().map(this::address).orElse(0L);
    Samples samples = new Samples(address(s.x()), gradient, address(s.out()));
    long each = dots.scratchBytes();
    return inTasks(
        s.sizes().batch(),
        ROWS_PER_TASK,
        (from, to, worker) -> dots.run(samples, from, to, scratch + worker * each));
  }

  private static DotInteraction dots(Step.DotInteraction s) {
    int n = s.sizes().n();
    int d = s.sizes().d();
    return s.gradient().isEmpty() ? DotInteraction.forward(n, d) : DotInteraction.backward(n, d);
  }

  private Runnable pairSums(Step.PairSums s, long scratch) {
    PairSums sums = new PairSums(s.sizes().n(), s.sizes().d());
    long x = address(s.x());
    long out = address(s.out());
    long gradient = s.gradient().map(this::address).orElse(0L);
    long each = PairSums.scratchBytes();
    Range range =
        s.gradient().isEmpty()
            ? (from, to, worker) -> sums.forward(x, out, scratch + worker * each, from, to)
            : (from, to, worker) -> sums.backward(x, gradient, out, from, to);
    return inTasks(s.sizes().batch(), ROWS_PER_TASK, range);
  }

  private Runnable gru(Step.Gru s, long scratch) {
    int count = s.offsets().rows() - 1;
    int width = s.states().width();
    int rows = s.states().rows();
    MemorySegment offsets = segment(s.offsets().place(), 4L * (count + 1));
    long starts = offsets.address();
    long out = address(s.out());
    long[] inputs = s.inputs().stream().mapToLong(this::address).toArray();
    RecurrentStates.Addresses at = new RecurrentStates.Addresses(inputs, out, scratch);
    RecurrentStates states =
        s.isGradient()
            ? RecurrentStates.backward(width, at, workers.threads())
            : RecurrentStates.forward(width, at, workers.threads());
    Runnable all =
        inTasks(
            count,
            Math.ceilDiv(Math.max(1, count), MOST_RUN_TASKS),
            (from, to, worker) -> states.runs(starts, from, to, worker));
    return () -> {
      IndexRules.check("gru", offsets, count + 1, rows);
      all.run();
      int used = Memory.getInt(starts + 4L * count);
      if (used < rows) {
        Memory.zero(out + 4L * width * used, 4L * width * (rows - used));
      }
    };
  }

  private static FusedTask.PassedRows passedRows(Step.MatMulThen s) {
    if (!s.passesRows()) {
      return FusedTask.PassedRows.NONE;
    }
    Step.ProductSizes size = s.product().sizes();
    long bytes = MatMul.rowsBytes(size.batch(), size.m(), size.n(), size.k());
    return new FusedTask.PassedRows(s.then().operands().indexOf(s.product().c().place()), bytes);
  }

  private Runnable cast(Step.Cast s) {
    long in = address(s.in().place());
    long out = address(s.out().place());
    if (!ElementCasts.isDense(s)) {
      return () -> ElementCasts.run(s, 0, in, out);
    }
    return inTasks(
        Math.toIntExact(s.elements()),
        ELEMENTS_PER_TASK,
        (from, to, worker) ->
            ElementCasts.range(
                s,
                in + (long) from * s.from().bytes(),
                out + (long) from * s.to().bytes(),
                to - from));
  }

  private Runnable uniform(Step.Uniform s) {
    long seedAt = address(s.seed());
    long out = address(s.out());
    return inTasks(
        s.count(),
        ELEMENTS_PER_TASK,
        (from, to, worker) -> {
          long seed = Memory.getLong(seedAt);
          for (int i = from; i < to; i++) {
            Memory.setFloat(out + 4L * i, Pointwise.uniform(seed, s.stream(), i));
          }
        });
  }

  private Runnable matmul(Step.MatMul s, Epilogue epilogue) {
    Step.ProductSizes size = s.sizes();
    int[] aStrides = s.a().strides();
    int[] bStrides = s.b().strides();
    int[] cStrides = s.c().strides();
    ProductSpec spec =
        new ProductSpec(
            aStrides[1],
            aStrides[2],
            bStrides[1],
            bStrides[2],
            cStrides[1],
            size.m(),
            size.n(),
            size.k(),
            false);
    long a = address(s.a().place());
    long b = address(s.b().place());
    long c = address(s.c().place());
    long scratch = address(s.scratch().place());
    if (BatchProduct.pays(size.batch(), size.m(), size.n(), size.k())) {
      BatchProduct products =
          new BatchProduct(
              workers,
              spec,
              new BatchProduct.Batch(size.batch(), aStrides[0], bStrides[0], cStrides[0]),
              scratch,
              epilogue);
      return () -> products.run(a, b, c);
    }
    long packedB = size.batch() == 1 ? constants.find(spec, b) : 0;
    MatMul product = new MatMul(workers, spec, scratch, epilogue, packedB);
    return () -> {
      for (int i = 0; i < size.batch(); i++) {
        product.run(a + 4L * i * aStrides[0], b + 4L * i * bStrides[0], c + 4L * i * cStrides[0]);
      }
    };
  }

  private Runnable gather(Step.Gather s) {
    RowIndex index = index("gather", s.index(), s.table().rows());
    long table = address(s.table().place());
    long out = address(s.out());
    int count = s.index().count();
    int each = Math.max(1, ELEMENTS_PER_TASK / Math.max(1, s.width()));
    return checked(
        index,
        count,
        inTasks(count, each, (from, to, worker) -> index.gather(table, out, from, to, s.width())));
  }

  /** The error names the first wrong index, whichever a thread met first. */
  private static Runnable checked(RowIndex index, int count, Runnable all) {
    return () -> {
      try {
        all.run();
      } catch (IndexOutOfBoundsException e) {
        index.check(count);
        throw e;
      }
    };
  }

  private Runnable scatterAdd(Step.ScatterAdd s) {
    RowIndex index = index("scatterAdd", s.index(), s.out().rows());
    long values = address(s.values());
    long out = address(s.out().place());
    int count = s.index().count();
    if (s.out().rows() == 0) {
      return () -> index.check(count);
    }
    // Each task reads the whole index: their number is small, and a task is long.
    long elements = (long) (count + s.out().rows()) * s.width();
    int tasks = (int) Math.clamp(elements / SCATTERED_PER_TASK, 1, MOST_SCATTERS);
    int each = Math.ceilDiv(s.out().rows(), tasks);
    return checked(
        index,
        count,
        inTasks(
            s.out().rows(),
            each,
            (from, to, worker) -> index.scatterAdd(values, out, count, s.width(), from, to)));
  }

  private RowIndex index(String op, Step.RowNumbers index, int rows) {
    return new RowIndex(op, address(index.place()), index.type(), rows, index.gaps());
  }

  private Runnable segmentReduce(Step.SegmentReduce s) {
    int count = s.offsets().rows() - 1;
    MemorySegment offsets = segment(s.offsets().place(), 4L * (count + 1));
    long values = address(s.values().place());
    long out = address(s.out());
    SegmentReduction segments = new SegmentReduction(s.kind(), s.width());
    long elements = Math.max(1, (long) s.values().rows() * s.width());
    long share = (long) ELEMENTS_PER_TASK * count / elements;
    int each = (int) Math.clamp(share, 1L, (long) ELEMENTS_PER_TASK);
    long starts = offsets.address();
    Runnable all =
        inTasks(count, each, (from, to, worker) -> segments.reduce(values, starts, out, from, to));
    return () -> {
      IndexRules.check("segmentReduce", offsets, count + 1, s.values().rows());
      all.run();
    };
  }

  private Runnable index(Step.Index s) {
    List<IndexRules.Operand> inputs = new ArrayList<>();
    for (Step.Index.Input input : s.inputs()) {
      long bytes = (long) input.type().bytes() * input.count() * input.width();
      MemorySegment data = segment(input.place(), bytes);
      inputs.add(new IndexRules.Operand(data, input.type(), input.count(), input.width()));
    }
    MemorySegment out = segment(s.out(), 4L * s.count());
    return () -> IndexRules.apply(s.op(), inputs, out);
  }

  private MemorySegment segment(Step.Place place, long bytes) {
    return Memory.segment(address(place), bytes);
  }
}
