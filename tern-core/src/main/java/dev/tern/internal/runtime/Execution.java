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

/**
 * A plan bound to addresses: run it as often as you like, it allocates nothing. One thread at a
 * time.
 */
public final class Execution {
  private static final int ROWS_PER_TASK = 64;
  private static final int ELEMENTS_PER_TASK = 16_384;

  /** Operations in a run from which waiting for vector code pays. */
  private static final double WORTH_WAITING = 5e8;

  private static final long MOST_WAITING_MILLIS = 4_000;

  private final Plan plan;
  private final List<Optional<CompiledKernel>> kernels;
  private final Workers workers;
  private final long[] storages;
  private final List<Runnable> steps = new ArrayList<>();
  private final long[] nanos;

  /** When each step of the last run began, and when the last ended. */
  private final long[] times;

  private long runs;

  /**
   * Where a plan finds its memory.
   *
   * @param leaves address of each storage that is a leaf
   * @param arena address of {@code plan.arenaBytes()} bytes
   * @param scratch address of {@link #scratchBytes} bytes
   * @param output address of the output that lies {@link Plan#APART}, if one does
   */
  public record Addresses(long[] leaves, long arena, long scratch, long output) {}

  public Execution(
      Plan plan, List<Optional<CompiledKernel>> kernels, Workers workers, Addresses at) {
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

  /** The code of the steps of a plan that run kernels, which is made ready from here on. */
  public static List<Optional<CompiledKernel>> kernels(Plan plan) {
    return plan.steps().stream()
        .map(step -> step.kernel().map(fused -> Kernels.of(fused.spec())))
        .toList();
  }

  /** Bytes of scratch for the lanes of reductions and for dot interactions, for each worker. */
  public static long scratchBytes(Plan plan, int threads) {
    long most = 0;
    for (Step step : plan.steps()) {
      long each =
          switch (step) {
            case Step.Fused fused -> FusedTask.scratchBytes(fused);
            case Step.MatMulThen s -> FusedTask.scratchBytes(s.then());
            case Step.DotInteraction s -> forward(s.sizes()).scratchBytes();
            case Step.DotInteractionGradient s -> backward(s.sizes()).scratchBytes();
            case Step.PairSums sums -> PairSums.scratchBytes();
            default -> 0;
          };
      most = Math.max(most, each * threads);
    }
    return most;
  }

  /** Computes outputs and stores updates. */
  public void run() {
    boolean isRecorded = StepEvent.isRecorded();
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
   * Waits until the vector code that this execution needs is ready, where a run is so much
   * arithmetic that scalar code would take long and keep the cores from the JIT; some seconds at
   * most. Before many runs it pays, before a single one it may not.
   */
  public void awaitVectorCode() {
    double flops = plan.steps().stream().mapToDouble(Step::flops).sum();
    long end = System.nanoTime() + MOST_WAITING_MILLIS * 1_000_000;
    while (flops > WORTH_WAITING && isPending() && System.nanoTime() < end) {
      LockSupport.parkNanos(1_000_000);
      if (Thread.currentThread().isInterrupted()) {
        return;
      }
    }
  }

  private boolean isPending() {
    boolean hasProduct =
        plan.steps().stream()
            .anyMatch(step -> step instanceof Step.MatMul || step instanceof Step.MatMulThen);
    return hasProduct && MatMul.isPending()
        || kernels.stream().flatMap(Optional::stream).anyMatch(CompiledKernel::isPending);
  }

  /** The state of the code of a step: {@link CompiledKernel#state}, or nothing without a kernel. */
  public String state(int step) {
    return kernels.get(step).map(CompiledKernel::state).orElse("");
  }

  /** Runs so far. */
  public long runs() {
    return runs;
  }

  /** Nanoseconds, in all runs together, of each step of the plan. */
  public long[] nanos() {
    return nanos.clone();
  }

  /** When each step of the last run began, and when the last ended: nanoseconds from its start. */
  public long[] lastRun() {
    long[] result = new long[times.length];
    Arrays.setAll(result, i -> times[i] - times[0]);
    return result;
  }

  /** What it runs. */
  public Plan plan() {
    return plan;
  }

  /** The steps, in their order. */
  public List<Step> steps() {
    return plan.steps();
  }

  /** Address of output {@code index}, dense; valid until the next run. */
  public long output(int index) {
    return address(plan.outputs().get(index));
  }

  private long address(Step.Place place) {
    return storages[place.storage()] + place.offset();
  }

  private Runnable bind(Step step, Optional<CompiledKernel> kernel, long scratch) {
    return switch (step) {
      case Step.Fused s -> {
        FusedTask.Addresses at = addresses(s, scratch);
        FusedTask task =
            new FusedTask(
                s, kernel.orElseThrow(), at, FusedTask.PassedRows.NONE, workers.threads());
        yield () -> task.run(workers);
      }
      case Step.MatMul s -> matmul(s, Epilogue.NONE);
      case Step.MatMulThen s -> {
        FusedTask task =
            new FusedTask(
                s.then(),
                kernel.orElseThrow(),
                addresses(s.then(), scratch),
                passedRows(s),
                workers.threads());
        long rows = s.passesRows() ? address(s.product().c().place()) : 0;
        int pieces = s.then().loops().isAcross() ? s.then().loops().chunks() : 0;
        Runnable product = matmul(s.product(), new Epilogue(task::range, rows, pieces));
        yield () -> task.runWithin(product);
      }
      case Step.Gather s -> gather(s);
      case Step.ScatterAdd s -> scatterAdd(s);
      case Step.SegmentReduce s -> segmentReduce(s);
      case Step.Index s -> index(s);
      case Step.Copy s -> () -> Memory.copy(address(s.in()), address(s.out()), s.bytes());
      case Step.Uniform s -> {
        Workers.Task task = uniform(s);
        yield () -> workers.run(tasks(s.count(), ELEMENTS_PER_TASK), task);
      }
      case Step.Cast s -> cast(s);
      case Step.DotInteraction(Step.Place x, Step.Place out, Step.Vectors sizes) -> {
        DotInteraction dots = forward(sizes);
        Samples samples = new Samples(address(x), 0, address(out));
        long each = dots.scratchBytes();
        yield rows(
            sizes.batch(),
            (from, to, worker) -> dots.run(samples, from, to, scratch + worker * each));
      }
      case Step.DotInteractionGradient(
              Step.Place x,
              Step.Place gradient,
              Step.Place out,
              Step.Vectors sizes) -> {
        DotInteraction dots = backward(sizes);
        Samples samples = new Samples(address(x), address(gradient), address(out));
        long each = dots.scratchBytes();
        yield rows(
            sizes.batch(),
            (from, to, worker) -> dots.run(samples, from, to, scratch + worker * each));
      }
      case Step.PairSums(Step.Place x, Step.Place out, Step.Vectors(int batch, int n, int d)) -> {
        PairSums sums = new PairSums(n, d);
        yield rows(
            batch,
            (from, to, worker) -> {
              long own = scratch + worker * PairSums.scratchBytes();
              sums.forward(address(x), address(out), own, from, to);
            });
      }
      case Step.PairSumsGradient(
              Step.Place x,
              Step.Place gradient,
              Step.Place out,
              Step.Vectors(int batch, int n, int d)) -> {
        PairSums sums = new PairSums(n, d);
        yield rows(
            batch,
            (from, to, worker) ->
                sums.backward(address(x), address(gradient), address(out), from, to));
      }
    };
  }

  private static DotInteraction forward(Step.Vectors sizes) {
    return DotInteraction.forward(sizes.n(), sizes.d());
  }

  private static DotInteraction backward(Step.Vectors sizes) {
    return DotInteraction.backward(sizes.n(), sizes.d());
  }

  private FusedTask.Addresses addresses(Step.Fused s, long scratch) {
    long[] operands = s.operands().stream().mapToLong(this::address).toArray();
    return new FusedTask.Addresses(operands, address(s.partials()), scratch);
  }

  private static FusedTask.PassedRows passedRows(Step.MatMulThen s) {
    if (!s.passesRows()) {
      return FusedTask.PassedRows.NONE;
    }
    Step.ProductSizes size = s.product().sizes();
    long bytes = MatMul.rowsBytes(size.batch(), size.m(), size.n(), size.k());
    return new FusedTask.PassedRows(s.then().operands().indexOf(s.product().c().place()), bytes);
  }

  /** Computes some rows of a batch. */
  @FunctionalInterface
  private interface RowRange {
    void run(int from, int to, int worker);
  }

  private Runnable rows(int batch, RowRange range) {
    Workers.Task task =
        (index, worker) -> {
          int from = index * ROWS_PER_TASK;
          range.run(from, Math.min(batch, from + ROWS_PER_TASK), worker);
        };
    return () -> workers.run(tasks(batch, ROWS_PER_TASK), task);
  }

  private Runnable cast(Step.Cast s) {
    long in = address(s.in().place());
    long out = address(s.out().place());
    if (!ElementCasts.isDense(s)) {
      return () -> ElementCasts.run(s, in, out);
    }
    int count = Math.toIntExact(s.elements());
    Workers.Task task =
        (index, worker) -> {
          int from = index * ELEMENTS_PER_TASK;
          ElementCasts.range(
              s,
              in + (long) from * s.from().bytes(),
              out + (long) from * s.to().bytes(),
              Math.min(ELEMENTS_PER_TASK, count - from));
        };
    return () -> workers.run(tasks(count, ELEMENTS_PER_TASK), task);
  }

  private static int tasks(int count, int each) {
    return (int) ((count + each - 1L) / each);
  }

  private Workers.Task uniform(Step.Uniform s) {
    return (index, worker) -> {
      long seed = Memory.getLong(address(s.seed()));
      long out = address(s.out());
      int end = (int) Math.min(s.count(), (index + 1L) * ELEMENTS_PER_TASK);
      for (int i = index * ELEMENTS_PER_TASK; i < end; i++) {
        Memory.setFloat(out + 4L * i, Pointwise.uniform(seed, s.stream(), i));
      }
    };
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
    MatMul product = new MatMul(workers, spec, scratch, epilogue);
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
    Workers.Task task =
        (number, worker) -> {
          int from = number * each;
          int to = from + Math.min(each, count - from);
          index.gather(table, out, from, to, s.width());
        };
    return () -> {
      try {
        workers.run(tasks(count, each), task);
      } catch (IndexOutOfBoundsException e) {
        index.check(count); // the first wrong index, whichever thread met one first
        throw e;
      }
    };
  }

  private Runnable scatterAdd(Step.ScatterAdd s) {
    RowIndex index = index("scatterAdd", s.index(), s.out().rows());
    long values = address(s.values());
    long out = address(s.out().place());
    return () -> index.scatterAdd(values, out, s.index().count(), s.width());
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
    Workers.Task task =
        (index, worker) -> {
          int from = index * each;
          int to = from + Math.min(each, count - from);
          segments.reduce(values, offsets.address(), out, from, to);
        };
    return () -> {
      IndexRules.check("segmentReduce", offsets, count + 1, s.values().rows());
      workers.run(tasks(count, each), task);
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
