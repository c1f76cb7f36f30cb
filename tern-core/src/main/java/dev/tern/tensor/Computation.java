package dev.tern.tensor;

import dev.tern.base.DType;
import dev.tern.internal.ir.Program;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.plan.Plan;
import dev.tern.internal.plan.Step;
import dev.tern.internal.remat.TraceLogWriter;
import dev.tern.internal.runtime.Engine;
import dev.tern.internal.runtime.PlanExecution;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Tensors that are planned and fused once and computed many times, in memory of their own. Each
 * {@link #run} reads the variables, computes the outputs and stores the updates. After the first
 * run it allocates nothing. For one thread at a time.
 */
public final class Computation implements AutoCloseable {
  private final Engine.Bound bound;
  private final LentMemory lent;
  private final List<Tensor> outputs;
  private final boolean isStep;
  private boolean ready;

  private Computation(Device device, Engine.Bound bound, List<Tensor> outputs, boolean isStep) {
    this.bound = bound;
    this.isStep = isStep;
    lent = new LentMemory(device);
    this.outputs = outputs;
  }

  /**
   * Plans a computation.
   *
   * @param outputs tensors to read after each run
   * @param updates new content of variables, stored after all reads of the old content; the order
   *     of the map does not matter
   */
  public static Computation of(Device device, List<Tensor> outputs, Map<Variable, Tensor> updates) {
    return of(device, outputs, updates, PlanSearch.QUICK);
  }

  /**
   * Plans a computation of {@code outputs} for which the content of some variables never changes
   * from here on but by {@link Variable#copy}. Products read these from copies in an order that is
   * faster to read, which all computations of the device share and which stay in its memory until
   * it closes. The results are the same bits.
   */
  public static Computation withConstants(
      Device device, List<Tensor> outputs, Collection<Variable> constants) {
    Set<Buffer> fixed = constants.stream().map(Variable::buffer).collect(Collectors.toSet());
    Program program = Program.of(outputs.stream().map(Tensor::node).toList(), List.of());
    return new Computation(
        device,
        device.engine().bind(program, PlanSearch.QUICK.finder(), fixed),
        List.copyOf(outputs),
        false);
  }

  /**
   * Plans a computation, with a search of its own where the device's memory has no room for all of
   * its values.
   */
  public static Computation of(
      Device device, List<Tensor> outputs, Map<Variable, Tensor> updates, PlanSearch search) {
    List<Program.Update> stored =
        updates.entrySet().stream()
            .sorted(Comparator.comparingLong(update -> update.getKey().number()))
            .map(update ->
                new Program.Update(update.getKey().tensor().node(), update.getValue().node()))
            .toList();
    Program program = Program.of(outputs.stream().map(Tensor::node).toList(), stored);
    return new Computation(
        device,
        device.engine().bind(program, search.finder()),
        List.copyOf(outputs),
        !stored.isEmpty());
  }

  /**
   * Computes the outputs and stores the updates. Before its first run a computation waits for its
   * vector code, 4 seconds at most, if it is of more than about half a billion operations; a tenth
   * of that if it has updates, as many runs will follow then.
   */
  public void run() {
    if (!ready) {
      ready = true;
      bound.execution().awaitVectorCode(isStep);
    }
    bound.run();
  }

  /**
   * Whether runs have their full speed: false while the JIT compiles vector code for them. Each run
   * brings this closer.
   */
  public boolean isReady() {
    return !bound.execution().isPending();
  }

  /**
   * The elements of output {@code index} in memory, row-major, {@code elements * type.bytes()}
   * bytes in the machine's byte order; read-only. Each run overwrites them in the same place, so
   * one call serves all runs. Access is an IllegalStateException once the computation or its device
   * is closed.
   *
   * @param index of {@code outputs} in {@link #of}
   */
  public MemorySegment output(int index) {
    Tensor output = outputs.get(index);
    long bytes = (long) output.shape().elements() * output.type().bytes();
    return lent.segment(bound.execution().output(index), bytes).asReadOnly();
  }

  /** Copies output {@code index}, F32, into {@code target} from index {@code at} on. */
  public void copyOutput(int index, float[] target, int at) {
    requireFloats(index);
    int count = outputs.get(index).shape().elements();
    Memory.copyOut(bound.execution().output(index), target, at, count);
  }

  /** Output {@code index}, F32 of one element. */
  public float item(int index) {
    requireFloats(index);
    if (outputs.get(index).shape().elements() != 1) {
      throw new IllegalArgumentException(
          "item: got output " + index + ", " + outputs.get(index) + ", expected one element");
    }
    return Memory.getFloat(bound.execution().output(index));
  }

  private void requireFloats(int index) {
    DType type = outputs.get(index).type();
    if (type != DType.F32 && type != DType.BOOL) {
      throw new IllegalArgumentException(
          "computation: got output %d, %s, expected F32; cast it in the expression"
              .formatted(index, outputs.get(index)));
    }
  }

  /** What each step has cost so far, in the order in which they run. */
  public List<StepTime> times() {
    PlanExecution execution = bound.execution();
    List<StepTime> times = new ArrayList<>();
    long[] nanos = execution.nanos();
    for (int i = 0; i < nanos.length; i++) {
      Step step = execution.plan().steps().get(i);
      String state = execution.state(i);
      long runs = execution.runs();
      times.add(new StepTime(step.label(), state, runs, nanos[i], step.flops(), step.traffic()));
    }
    return times;
  }

  /** Bytes of the memory for its values. */
  public long memory() {
    return bound.sizes().bytes();
  }

  /** Its memory, and the times of its last run. */
  public StepProfile profile() {
    Plan plan = bound.execution().plan();
    long[] times = bound.execution().lastRun();
    List<StepProfile.Step> steps = new ArrayList<>();
    for (int i = 0; i < plan.steps().size(); i++) {
      String label = plan.steps().get(i).label();
      List<StepProfile.Source> sources =
          plan.attributions().get(i).stream()
              .map(
                  s -> new StepProfile.Source(s.ops(), s.origin().lines(), s.origin().isGradient()))
              .toList();
      steps.add(new StepProfile.Step(label, plan.again().get(i), times[i], times[i + 1], sources));
    }
    List<StepProfile.Block> blocks = new ArrayList<>();
    for (Plan.Allocation a : plan.allocations()) {
      boolean isScratch = a.content() == Plan.Content.SCRATCH;
      blocks.add(
          new StepProfile.Block(a.from(), isScratch, a.offset(), a.bytes(), a.from(), a.to()));
    }
    Engine.Sizes sizes = bound.sizes();
    return new StepProfile(sizes.bytes(), sizes.most(), sizes.whole(), steps, blocks);
  }

  /**
   * Writes a log of its steps and their storages, to be replayed in less memory. Times are means of
   * the runs so far, or estimates before the first run.
   *
   * @throws java.io.UncheckedIOException when the file cannot be written
   */
  public void record(Path file) {
    TraceLogWriter.write(bound.recorded(), file);
  }

  /** Frees the computation's memory; variables stay. */
  @Override
  public void close() {
    lent.close();
    bound.close();
  }
}
