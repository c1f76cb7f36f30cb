package dev.tern.internal.runtime;

import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.driver.CudaException;
import dev.tern.internal.cuda.run.CudaExecution;
import dev.tern.internal.cuda.run.KernelLibrary;
import dev.tern.internal.cuda.text.PlanText;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.plan.Plan;
import dev.tern.internal.plan.Planner;
import dev.tern.internal.remat.NoRoomException;
import dev.tern.internal.remat.search.ScheduleFinder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A program bound to an accelerator. Outputs are copied to the host after each run. */
final class AcceleratedExecution implements PlanExecution, AutoCloseable {
  private static final int ALIGNMENT = 256;

  /** In one of so many runs each step is timed, as marks cost time; so it is in the second. */
  private static final int EACH_TIMED = 256;

  private final Accelerator accelerator;
  private final CudaDevice device;
  private final List<Buffer> leaves = new ArrayList<>();
  private final List<LeafCopy> copies = new ArrayList<>();
  private final List<Boolean> isUpdated = new ArrayList<>();

  /** What closing does, the last first. */
  private final Deque<Runnable> releases = new ArrayDeque<>();

  private final Plan plan;
  private final Engine.Sizes sizes;
  private final long[] outputBytes;
  private final long[] outputs;
  private final CudaExecution execution;
  private final long[] times;
  private final long[] nanos;
  private long runs;

  /**
   * Binds a program within {@code limit} bytes of the device's memory.
   *
   * @throws OutOfBudgetException when it does not fit
   */
  AcceleratedExecution(
      Accelerator accelerator, Program program, long limit, ScheduleFinder finder) {
    this.accelerator = accelerator;
    device = accelerator.device();
    outputBytes = new long[program.outputs().size()];
    outputs = new long[outputBytes.length];
    try {
      List<Node> all = program.leaves();
      all.forEach(leaf -> copy(program, leaf));
      long room = accelerator.room(limit);
      Plan whole = Planner.planForDevice(program, Long.MAX_VALUE, ScheduleFinder.QUICK);
      long most = bytes(whole);
      plan = most <= room ? whole : fitted(program, room, finder, most);
      sizes = new Engine.Sizes(bytes(plan), room, most);
      long memory = accelerator.memory().allocate(bytes(plan), "activations");
      releases.push(() -> accelerator.memory().free(memory));
      placeOutputs(program);
      nanos = new long[plan.steps().size()];
      times = new long[nanos.length + 1];
      execution = execution(memory);
      releases.push(execution::close);
    } catch (RuntimeException | Error e) {
      close();
      if (e instanceof CudaException failed && failed.isOutOfMemory()) {
        throw new OutOfBudgetException(String.valueOf(failed.getMessage()));
      }
      throw e;
    }
  }

  private void copy(Program program, Node node) {
    Buffer leaf = ((Op.Leaf) node.op()).buffer();
    LeafCopy copy = accelerator.copyOf(leaf);
    releases.push(() -> accelerator.dropCopy(leaf, copy));
    leaves.add(leaf);
    copies.add(copy);
    isUpdated.add(program.updates().stream().anyMatch(update -> update.leaf() == node));
  }

  private long bytes(Plan of) {
    return aligned(of.arenaBytes()) + CudaExecution.scratchBytes(of, accelerator.cores());
  }

  private Plan fitted(Program program, long room, ScheduleFinder finder, long most) {
    // Dropping values leaves the largest step and its scratch memory as they are.
    Plan whole = Planner.planForDevice(program, Long.MAX_VALUE, ScheduleFinder.QUICK);
    long scratch = CudaExecution.scratchBytes(whole, accelerator.cores()) + ALIGNMENT;
    try {
      Plan smaller = Planner.planForDevice(program, Math.max(0, room - scratch), finder);
      if (bytes(smaller) <= room) {
        return smaller;
      }
      // Steps that run again have scratch memory of their own.
      long more = bytes(smaller) - room;
      return Planner.planForDevice(program, Math.max(0, room - scratch - more), finder);
    } catch (NoRoomException e) {
      throw new OutOfBudgetException(
          "%s; in all there were %d bytes of the device's memory for its values and the scratch of its steps, of %d without a limit"
              .formatted(e.getMessage(), room, most));
    }
  }

  private void placeOutputs(Program program) {
    long all = 0;
    for (int i = 0; i < outputs.length; i++) {
      Node output = program.outputs().get(i);
      outputBytes[i] = (long) output.shape().elements() * output.type().bytes();
      outputs[i] = all;
      all = aligned(all + outputBytes[i]);
    }
    long pinned = accelerator.pinned().allocate(all, "outputs");
    releases.push(() -> accelerator.pinned().free(pinned));
    for (int i = 0; i < outputs.length; i++) {
      outputs[i] += pinned;
    }
  }

  private CudaExecution execution(long memory) {
    long[] addresses = new long[plan.leaves().length];
    for (int i = 0; i < addresses.length; i++) {
      addresses[i] = copies.get(plan.leaves()[i]).address;
    }
    PlanText text = PlanText.of(plan);
    KernelLibrary.Kernels kernels = accelerator.library().kernels(text.text());
    releases.push(() -> accelerator.library().release(text.text()));
    return new CudaExecution(
        device,
        kernels,
        plan,
        text,
        new CudaExecution.Addresses(addresses, memory, memory + aligned(plan.arenaBytes())),
        accelerator.cores());
  }

  private static long aligned(long size) {
    return (size + ALIGNMENT - 1) & -ALIGNMENT;
  }

  Engine.Sizes sizes() {
    return sizes;
  }

  @Override
  public void run() {
    synchronized (accelerator) {
      device.use();
      copyIn();
      boolean isTimed = runs % EACH_TIMED == 1;
      boolean updates = false;
      try {
        execution.check(isTimed);
        updates = true;
        execution.begin(isTimed);
        copyOut();
        execution.finish();
      } finally {
        if (updates) {
          noteUpdates();
        }
      }
      runs++;
      if (isTimed) {
        take(execution.nanos());
      }
      for (int i = 0; i < nanos.length && runs > 2; i++) {
        nanos[i] += times[i + 1] - times[i];
      }
    }
  }

  private void copyIn() {
    for (int i = 0; i < copies.size(); i++) {
      LeafCopy copy = copies.get(i);
      if ((copy.isHostNewer || accelerator.isLent(leaves.get(i))) && copy.bytes > 0) {
        device
            .driver()
            .memory()
            .copyIn(copy.address, copy.host, copy.bytes, device.computeStream());
      }
      copy.isHostNewer = false;
    }
  }

  private void copyOut() {
    for (int i = 0; i < outputs.length; i++) {
      if (outputBytes[i] > 0) {
        device
            .driver()
            .memory()
            .copyOut(outputs[i], execution.output(i), outputBytes[i], device.computeStream());
      }
    }
  }

  private void noteUpdates() {
    for (int i = 0; i < copies.size(); i++) {
      if (isUpdated.get(i)) {
        copies.get(i).isDeviceNewer = true;
        if (accelerator.isLent(leaves.get(i))) {
          accelerator.beforeHostReads(leaves.get(i));
        }
      }
    }
  }

  /** Takes measured times; the first of them stand for the first run too, which is not timed. */
  private void take(long[] measured) {
    for (int i = 0; i < measured.length; i++) {
      times[i + 1] = times[i] + measured[i];
      nanos[i] = runs == 2 ? 2 * measured[i] : nanos[i];
    }
  }

  @Override
  public Plan plan() {
    return plan;
  }

  @Override
  public long output(int index) {
    return outputs[index];
  }

  @Override
  public long runs() {
    return runs;
  }

  /** A run whose steps were not timed counts as the last one that was. */
  @Override
  public long[] nanos() {
    return nanos.clone();
  }

  @Override
  public long[] lastRun() {
    return times.clone();
  }

  @Override
  public String state(int step) {
    return "";
  }

  @Override
  public boolean isPending() {
    return false;
  }

  @Override
  public void awaitVectorCode(boolean often) {}

  /** Gives back what it holds. A run that failed may have left work, which is waited for. */
  @Override
  public void close() {
    synchronized (accelerator) {
      accelerator.closed(this);
      RuntimeException failure = null;
      releases.push(() -> device.driver().streams().synchronize(device.computeStream()));
      releases.push(device::use);
      while (!releases.isEmpty()) {
        try {
          releases.pop().run();
        } catch (RuntimeException e) {
          failure = failure == null ? e : failure;
        }
      }
      if (failure != null) {
        throw failure;
      }
    }
  }
}
