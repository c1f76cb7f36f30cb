package dev.tern.internal.cuda.run;

import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.text.PlanText;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.plan.Plan;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * A plan bound to memory of a device. Its steps follow one another on the device's stream; after
 * the first run they are one graph, which costs the host one call. The plan must have been made for
 * a device: no product hands rows on to another step.
 */
public final class CudaExecution implements AutoCloseable {
  private static final int ALIGNMENT = 256;

  private final CudaDevice device;
  private final Plan plan;
  private final StepAddresses addresses;
  private final ErrorWords errors;
  private final List<List<Launch>> steps = new ArrayList<>();
  private final Arena arena = Arena.ofShared();
  private final long[] words;
  private final long pinned;
  private long graph;
  private long timedGraph;
  private long[] marks = new long[0];

  /**
   * The device addresses that a plan is bound to.
   *
   * @param leaves the address of each storage that is a leaf
   * @param arena the address of {@code plan.arenaBytes()} bytes
   * @param scratch the address of {@link #scratchBytes} bytes
   */
  public record Addresses(long[] leaves, long arena, long scratch) {}

  /**
   * Makes the launches of a plan.
   *
   * @param kernels those of its text, and the fixed ones
   */
  public CudaExecution(
      CudaDevice device, KernelLibrary.Kernels kernels, Plan plan, PlanText text, Addresses at) {
    this.device = device;
    this.plan = plan;
    device.use();
    addresses = new StepAddresses(plan, at.leaves, at.arena);
    errors = new ErrorWords(at.scratch);
    long scratch = at.scratch + errorBytes(plan);
    for (int i = 0; i < plan.steps().size(); i++) {
      Launches launches = new Launches(device, kernels, arena);
      new StepLaunches(launches, addresses, errors, scratch)
          .add(plan.steps().get(i), text.launches().get(i));
      steps.add(launches.toList());
    }
    words = new long[errors.count()];
    pinned = words.length > 0 ? device.driver().memory().allocatePinned(8L * words.length) : 0;
  }

  /** Bytes of scratch memory beside the plan's arena. */
  public static long scratchBytes(Plan plan) {
    return errorBytes(plan)
        + plan.steps().stream().mapToLong(StepLaunches::scratchBytes).max().orElse(0);
  }

  /** Room for the words of all checks: a step has two at most. */
  private static long errorBytes(Plan plan) {
    return (16L * plan.steps().size() + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /**
   * Runs all steps and waits for them.
   *
   * @throws RuntimeException what the CPU would throw, when a step found its input wrong
   */
  public void run() {
    begin();
    finish();
  }

  /** Has the device run all steps; {@link #finish} waits for them. */
  public void begin() {
    device.use();
    if (graph == 0) {
      graph = record();
    }
    device.driver().graphs().launch(graph, device.computeStream());
  }

  /** As {@link #begin}, with marks between the steps for {@link #nanos}. */
  public void beginTimed() {
    device.use();
    if (timedGraph == 0) {
      marks = new long[steps.size() + 1];
      for (int i = 0; i < marks.length; i++) {
        marks[i] = device.driver().streams().createEvent(true);
      }
      timedGraph = record();
    }
    device.driver().graphs().launch(timedGraph, device.computeStream());
  }

  /** Nanoseconds of each step in the last run that {@link #beginTimed} began and that is over. */
  public long[] nanos() {
    device.use();
    long[] nanos = new long[steps.size()];
    for (int i = 0; i < nanos.length; i++) {
      nanos[i] = (long) (1e6 * device.driver().streams().elapsed(marks[i], marks[i + 1]));
    }
    return nanos;
  }

  /** Waits for the steps and says what was wrong with their input. */
  public void finish() {
    device.use();
    device.driver().streams().synchronize(device.computeStream());
    for (int i = 0; i < words.length; i++) {
      words[i] = Memory.getLong(pinned + 8L * i);
    }
    errors.check(words);
  }

  private long record() {
    var graphs = device.driver().graphs();
    graphs.begin(device.computeStream());
    long recorded = 0;
    try {
      launchAll();
    } finally {
      recorded = graphs.end(device.computeStream());
    }
    try {
      return graphs.instantiate(recorded);
    } finally {
      graphs.destroy(recorded);
    }
  }

  private void launchAll() {
    var memory = device.driver().memory();
    long stream = device.computeStream();
    if (words.length > 0) {
      memory.fill(errors.address(), (byte) -1, 8L * words.length, stream);
    }
    for (int i = 0; i < steps.size(); i++) {
      mark(i);
      for (Launch launch : steps.get(i)) {
        device
            .driver()
            .modules()
            .launch(launch.kernel(), launch.grid(), launch.parameters(), stream);
      }
    }
    mark(steps.size());
    if (words.length > 0) {
      memory.copyOut(pinned, errors.address(), 8L * words.length, stream);
    }
  }

  /** Marks the place before a step where times are taken. */
  private void mark(int step) {
    if (marks.length > 0) {
      device.driver().streams().recordInGraph(marks[step], device.computeStream());
    }
  }

  public Plan plan() {
    return plan;
  }

  /** Launches of all steps together. */
  public int launches() {
    return steps.stream().mapToInt(List::size).sum();
  }

  /** The device address of output {@code index}, dense; valid until the next run. */
  public long output(int index) {
    return addresses.of(plan.outputs().get(index));
  }

  /** Gives back what it holds beside the memory that it was bound to. */
  @Override
  public void close() {
    device.use();
    for (long instance : new long[] {graph, timedGraph}) {
      if (instance != 0) {
        device.driver().graphs().destroyInstance(instance);
      }
    }
    for (long mark : marks) {
      device.driver().streams().destroyEvent(mark);
    }
    if (pinned != 0) {
      device.driver().memory().freePinned(pinned);
    }
    arena.close();
  }
}
