package dev.tern.internal.cuda.run;

import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.driver.CudaException;
import dev.tern.internal.cuda.text.PlanText;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.plan.Plan;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
  private final Arena arena = Arena.ofAuto();
  private final List<AutoCloseable> held = new ArrayList<>();
  private final long[] words;
  private final long pinned;

  /** Steps that run and are waited for before leaves are written; 0 where nothing is waited for. */
  private final int first;

  /** All steps, or those after the first ones; the first ones; then the same with marks. */
  private final long[] graphs = new long[4];

  /** Before each step, after the last, and after the first ones; none until they are needed. */
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
   * @param cores that compute products, if these need not be exact
   */
  public CudaExecution(
      CudaDevice device,
      KernelLibrary.Kernels kernels,
      Plan plan,
      PlanText text,
      Addresses at,
      Optional<TensorCores> cores) {
    this.device = device;
    this.plan = plan;
    device.use();
    addresses = new StepAddresses(plan, at.leaves, at.arena);
    errors = new ErrorWords(at.scratch);
    long scratch = at.scratch + errorBytes(plan);
    try {
      for (int i = 0; i < plan.steps().size(); i++) {
        Launches launches = new Launches(device, kernels, arena, held);
        new StepLaunches(launches, addresses, errors, scratch, cores)
            .add(plan.steps().get(i), text.launches().get(i));
        steps.add(launches.toList());
      }
      words = new long[errors.count()];
      pinned = words.length > 0 ? device.driver().memory().allocatePinned(8L * words.length) : 0;
    } catch (RuntimeException | Error e) {
      closeHeld();
      throw e;
    }
    int update = plan.firstUpdate();
    first = words.length > 0 && update < steps.size() ? update : 0;
  }

  /** Bytes of scratch memory beside the plan's arena. */
  public static long scratchBytes(Plan plan, Optional<TensorCores> cores) {
    return errorBytes(plan)
        + plan.steps().stream()
            .mapToLong(step -> StepLaunches.scratchBytes(step, cores))
            .max()
            .orElse(0);
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
    check(false);
    begin(false);
    finish();
  }

  /**
   * Where steps check their input and others write leaves after that, runs the steps before these
   * and waits, so that wrong input leaves the leaves as they were. Else does nothing.
   *
   * @param isTimed as for {@link #begin}
   */
  public void check(boolean isTimed) {
    if (first > 0) {
      launch(isTimed, true);
      readErrors();
    }
  }

  /**
   * Has the device run the steps that are left; {@link #finish} waits for them.
   *
   * @param isTimed whether there are marks between the steps, for {@link #nanos}
   */
  public void begin(boolean isTimed) {
    launch(isTimed, false);
  }

  /** Waits for the steps and says what was wrong with their input. */
  public void finish() {
    readErrors();
  }

  /** Nanoseconds of each step in the last run that was timed and is over. */
  public long[] nanos() {
    device.use();
    long[] nanos = new long[steps.size()];
    for (int i = 0; i < nanos.length; i++) {
      long end = i == first - 1 ? marks[steps.size() + 1] : marks[i + 1];
      nanos[i] = (long) (1e6 * device.driver().streams().elapsed(marks[i], end));
    }
    return nanos;
  }

  private void launch(boolean isTimed, boolean isFirst) {
    device.use();
    int which = (isTimed ? 2 : 0) + (isFirst ? 1 : 0);
    if (isTimed && marks.length == 0) {
      marks = new long[steps.size() + 2];
      for (int i = 0; i < marks.length; i++) {
        marks[i] = device.driver().streams().createEvent(true);
      }
    }
    if (graphs[which] == 0) {
      graphs[which] = record(isTimed, isFirst);
    }
    device.driver().graphs().launch(graphs[which], device.computeStream());
  }

  private void readErrors() {
    device.use();
    device.driver().streams().synchronize(device.computeStream());
    for (int i = 0; i < words.length; i++) {
      // Pinned memory is the driver's: checked mode does not know it.
      words[i] = Memory.ALL.get(ValueLayout.JAVA_LONG, pinned + 8L * i);
    }
    errors.check(words);
  }

  private long record(boolean isTimed, boolean isFirst) {
    var driver = device.driver().graphs();
    driver.begin(device.computeStream());
    long recorded;
    try {
      launchSteps(isTimed, isFirst);
      recorded = driver.end(device.computeStream());
    } catch (RuntimeException e) {
      // A recording that failed must end too, and what it has is of no use.
      try {
        driver.destroy(driver.end(device.computeStream()));
      } catch (CudaException alsoWrong) {
        e.addSuppressed(alsoWrong);
      }
      throw e;
    }
    try {
      return driver.instantiate(recorded);
    } finally {
      driver.destroy(recorded);
    }
  }

  private void launchSteps(boolean isTimed, boolean isFirst) {
    var memory = device.driver().memory();
    long stream = device.computeStream();
    int from = isFirst ? 0 : first;
    int to = isFirst ? first : steps.size();
    if (words.length > 0 && from == 0) {
      memory.fill(errors.address(), (byte) -1, 8L * words.length, stream);
    }
    for (int i = from; i < to; i++) {
      if (isTimed) {
        device.driver().streams().recordInGraph(marks[i], stream);
      }
      steps.get(i).forEach(launch -> launch.on(stream));
    }
    if (isTimed) {
      device.driver().streams().recordInGraph(marks[isFirst ? steps.size() + 1 : to], stream);
    }
    if (words.length > 0) {
      memory.copyOut(pinned, errors.address(), 8L * words.length, stream);
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
    for (long instance : graphs) {
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
    closeHeld();
  }

  private void closeHeld() {
    for (AutoCloseable each : held) {
      try {
        each.close();
      } catch (Exception e) {
        throw new IllegalStateException("device: cannot end a product", e);
      }
    }
  }
}
