package dev.tern.internal.runtime;

import dev.tern.base.Workers;
import dev.tern.internal.ir.IndexRules;
import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.kernel.BatchProduct;
import dev.tern.internal.kernel.DotInteraction;
import dev.tern.internal.kernel.Epilogue;
import dev.tern.internal.kernel.MatMul;
import dev.tern.internal.kernel.PairSums;
import dev.tern.internal.kernel.RowIndex;
import dev.tern.internal.kernel.Segments;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.plan.Plan;
import dev.tern.internal.plan.Step;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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
  private final Workers workers;
  private final long[] storages;
  private final List<Runnable> steps = new ArrayList<>();
  private final long[] nanos;

  /** When each step of the last run began, and when the last ended. */
  private final long[] times;

  private long runs;

  /**
   * Addresses of what a plan works on.
   *
   * @param leaves of each storage that is a leaf
   * @param arena of {@code plan.arenaBytes()} bytes
   * @param scratch of {@link #scratchBytes} bytes
   * @param output of the output that lies {@link Plan#APART}, if one does
   */
  public record Addresses(long[] leaves, long arena, long scratch, long output) {}

  /** Binds {@code plan}. */
  public Execution(Plan plan, Workers workers, Addresses addresses) {
    long[] leaves = addresses.leaves();
    this.plan = plan;
    this.workers = workers;
    storages = new long[leaves.length + plan.offsets().length];
    System.arraycopy(leaves, 0, storages, 0, leaves.length);
    for (int i = 0; i < plan.offsets().length; i++) {
      long offset = plan.offsets()[i];
      storages[leaves.length + i] =
          offset == Plan.APART ? addresses.output() : addresses.arena() + offset;
    }
    for (Step step : plan.steps()) {
      steps.add(bind(step, addresses.scratch()));
    }
    nanos = new long[steps.size()];
    times = new long[steps.size() + 1];
  }

  /** Bytes of scratch for the lanes of reductions and for dot interactions, for each worker. */
  public static long scratchBytes(Plan plan, int threads) {
    long most = 0;
    for (Step step : plan.steps()) {
      long each =
          switch (step) {
            case Step.Fused fused -> FusedTask.scratchBytes(fused);
            case Step.MatMulThen s -> FusedTask.scratchBytes(s.then());
            case Step.DotInteraction s -> DotInteraction.forward(s.n(), s.d()).scratchBytes();
            case Step.DotInteractionGradient s ->
                DotInteraction.backward(s.n(), s.d()).scratchBytes();
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
    for (Plan.Life life : plan.lives()) {
      if (life.isDropped() && life.to() == index + 1) {
        DropEvent drop = new DropEvent();
        drop.maker = plan.steps().get(life.maker()).label();
        drop.bytes = life.bytes();
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
    for (Step step : plan.steps()) {
      boolean isPending =
          switch (step) {
            case Step.MatMul s -> MatMul.isPending();
            case Step.MatMulThen s -> MatMul.isPending() || s.then().kernel().isPending();
            case Step.Fused s -> s.kernel().isPending();
            default -> false;
          };
      if (isPending) {
        return true;
      }
    }
    return false;
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

  private Runnable bind(Step step, long scratch) {
    return switch (step) {
      case Step.Fused s -> {
        FusedTask task = fused(s, scratch);
        yield () -> task.run(workers);
      }
      case Step.MatMul s -> matmul(s, Epilogue.NONE);
      case Step.MatMulThen s -> {
        FusedTask task = epilogue(s, scratch);
        long rows = s.passesRows() ? address(s.product().c()) : 0;
        int pieces = s.then().isAcross() ? s.then().chunks() : 0;
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
      case Step.PairSums s -> pairSums(s, scratch);
      case Step.PairSumsGradient s -> pairSumsGradient(s);
      case Step.Cast s -> cast(s);
      case Step.DotInteraction s -> {
        DotInteraction dots = DotInteraction.forward(s.n(), s.d());
        long x = address(s.x());
        long out = address(s.out());
        long each = dots.scratchBytes();
        yield byRows(
            s.batch(),
            (from, to, worker) -> dots.run(x, 0, out, from, to, scratch + worker * each));
      }
      case Step.DotInteractionGradient s -> {
        DotInteraction dots = DotInteraction.backward(s.n(), s.d());
        long x = address(s.x());
        long gradient = address(s.gradient());
        long out = address(s.out());
        long each = dots.scratchBytes();
        yield byRows(
            s.batch(),
            (from, to, worker) -> dots.run(x, gradient, out, from, to, scratch + worker * each));
      }
    };
  }

  private FusedTask fused(Step.Fused s, long scratch) {
    return new FusedTask(s, addresses(s, scratch), workers.threads(), FusedTask.PassedRows.NONE);
  }

  private FusedTask epilogue(Step.MatMulThen s, long scratch) {
    if (!s.passesRows()) {
      return fused(s.then(), scratch);
    }
    Step.MatMul p = s.product();
    int operand = s.then().operands().indexOf(p.c());
    long bytes = Epilogue.rowsBytes(p.batch(), p.m(), p.n(), p.k());
    FusedTask.PassedRows passed = new FusedTask.PassedRows(operand, bytes);
    return new FusedTask(s.then(), addresses(s.then(), scratch), workers.threads(), passed);
  }

  private FusedTask.Addresses addresses(Step.Fused s, long scratch) {
    long[] operands = s.operands().stream().mapToLong(this::address).toArray();
    return new FusedTask.Addresses(operands, address(s.partials()), scratch);
  }

  /** Works on rows {@code from} to {@code to - 1} of a batch. */
  private interface Rows {
    void run(int from, int to, int worker);
  }

  private Runnable byRows(int batch, Rows rows) {
    Workers.Task task =
        (index, worker) -> {
          int from = index * ROWS_PER_TASK;
          rows.run(from, Math.min(batch, from + ROWS_PER_TASK), worker);
        };
    return () -> workers.run(tasks(batch, ROWS_PER_TASK), task);
  }

  private Runnable pairSums(Step.PairSums s, long scratch) {
    long x = address(s.x());
    long out = address(s.out());
    long each = PairSums.scratchBytes();
    return byRows(
        s.batch(),
        (from, to, worker) ->
            PairSums.forward(x, out, scratch + worker * each, from, to, s.n(), s.d()));
  }

  private Runnable pairSumsGradient(Step.PairSumsGradient s) {
    long x = address(s.x());
    long gradient = address(s.gradient());
    long out = address(s.out());
    return byRows(
        s.batch(),
        (from, to, worker) -> PairSums.backward(x, gradient, out, from, to, s.n(), s.d()));
  }

  private Runnable cast(Step.Cast s) {
    long in = address(s.in());
    long out = address(s.out());
    if (!ElementCasts.isDense(s)) {
      return () -> ElementCasts.run(s, in, out);
    }
    int count = ElementCasts.count(s);
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
    MatMul.Spec spec =
        new MatMul.Spec(
            s.aStrides()[1],
            s.aStrides()[2],
            s.bStrides()[1],
            s.bStrides()[2],
            s.cStrides()[1],
            s.m(),
            s.n(),
            s.k(),
            false);
    long a = address(s.a());
    long b = address(s.b());
    long c = address(s.c());
    if (BatchProduct.pays(s.batch(), s.m(), s.n(), s.k())) {
      BatchProduct products =
          new BatchProduct(
              workers,
              spec,
              s.batch(),
              s.aStrides()[0],
              s.bStrides()[0],
              s.cStrides()[0],
              address(s.scratch()),
              epilogue);
      return () -> products.run(a, b, c);
    }
    MatMul product = new MatMul(workers, spec, address(s.scratch()), epilogue);
    return () -> {
      for (int i = 0; i < s.batch(); i++) {
        product.run(
            a + 4L * i * s.aStrides()[0],
            b + 4L * i * s.bStrides()[0],
            c + 4L * i * s.cStrides()[0]);
      }
    };
  }

  private Runnable gather(Step.Gather s) {
    RowIndex index = new RowIndex("gather", address(s.index()), s.indexType(), s.rows(), s.gaps());
    long table = address(s.table());
    long out = address(s.out());
    int each = Math.max(1, ELEMENTS_PER_TASK / Math.max(1, s.width()));
    Workers.Task task =
        (number, worker) -> {
          int from = number * each;
          int to = from + Math.min(each, s.count() - from);
          index.gather(table, out, from, to, s.width());
        };
    return () -> {
      try {
        workers.run(tasks(s.count(), each), task);
      } catch (IndexOutOfBoundsException e) {
        index.check(s.count()); // the first wrong index, whichever thread met one first
        throw e;
      }
    };
  }

  private Runnable scatterAdd(Step.ScatterAdd s) {
    RowIndex index =
        new RowIndex("scatterAdd", address(s.index()), s.indexType(), s.rows(), s.gaps());
    long values = address(s.values());
    long out = address(s.out());
    return () -> index.scatterAdd(values, out, s.count(), s.width());
  }

  private Runnable segmentReduce(Step.SegmentReduce s) {
    MemorySegment offsets = segment(s.offsets(), 4L * (s.count() + 1));
    long values = address(s.values());
    long out = address(s.out());
    long elements = Math.max(1, (long) s.rows() * s.width());
    long share = (long) ELEMENTS_PER_TASK * s.count() / elements;
    int each = (int) Math.clamp(share, 1L, (long) ELEMENTS_PER_TASK);
    Workers.Task task =
        (index, worker) -> {
          int from = index * each;
          int to = from + Math.min(each, s.count() - from);
          Segments.reduce(s.kind(), values, offsets.address(), out, from, to, s.width());
        };
    return () -> {
      IndexRules.check("segmentReduce", offsets, s.count() + 1, s.rows());
      workers.run(tasks(s.count(), each), task);
    };
  }

  private Runnable index(Step.Index s) {
    List<IndexRules.Operand> inputs = new ArrayList<>();
    for (Step.Index.Source input : s.inputs()) {
      long bytes = (long) input.type().bytes() * input.count() * input.width();
      MemorySegment data = segment(input.place(), bytes);
      inputs.add(new IndexRules.Operand(data, input.type(), input.count(), input.width()));
    }
    MemorySegment out = segment(s.out(), 4L * s.count());
    return () -> IndexRules.apply(s.op(), inputs, out);
  }

  private MemorySegment segment(Step.Place place, long bytes) {
    return MemorySegment.ofAddress(address(place)).reinterpret(bytes);
  }
}
