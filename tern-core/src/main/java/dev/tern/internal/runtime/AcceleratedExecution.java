package dev.tern.internal.runtime;

import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.run.CudaExecution;
import dev.tern.internal.cuda.text.PlanText;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.plan.Plan;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A program bound to an accelerator. Outputs are copied to the host after each run. */
final class AcceleratedExecution implements PlanExecution, AutoCloseable {
  private static final int ALIGNMENT = 256;

  /** In one of so many runs each step is timed, the second run among them; marks cost time. */
  private static final int EACH_TIMED = 256;

  private final Accelerator accelerator;
  private final CudaDevice device;
  private final Plan plan;
  private final List<Buffer> leaves = new ArrayList<>();
  private final List<LeafCopy> copies = new ArrayList<>();
  private final boolean[] isUpdated;
  private final long[] outputBytes;
  private final long[] outputs;
  private final long room;
  private final long bytes;
  private final long memory;
  private final long pinned;
  private final CudaExecution execution;
  private final long[] times;
  private final long[] nanos;
  private long runs;

  /** Binds a plan of a program; what it needs beside leaves comes from the device's memory. */
  AcceleratedExecution(Accelerator accelerator, Program program, Plan plan, long room) {
    this.accelerator = accelerator;
    this.plan = plan;
    this.room = room;
    device = accelerator.device();
    Set<Node> updated = new HashSet<>();
    program.updates().forEach(update -> updated.add(update.leaf()));
    int count = plan.leaves().length;
    long[] addresses = new long[count];
    isUpdated = new boolean[count];
    for (int i = 0; i < count; i++) {
      Node leaf = program.leaves().get(plan.leaves()[i]);
      leaves.add(((Op.Leaf) leaf.op()).buffer());
      copies.add(accelerator.copyOf(leaves.get(i)));
      addresses[i] = copies.get(i).address;
      isUpdated[i] = updated.contains(leaf);
    }
    outputBytes = new long[program.outputs().size()];
    outputs = new long[outputBytes.length];
    long all = 0;
    for (int i = 0; i < outputs.length; i++) {
      Node output = program.outputs().get(i);
      outputBytes[i] = (long) output.shape().elements() * output.type().bytes();
      outputs[i] = all;
      all = aligned(all + outputBytes[i]);
    }
    long scratch = aligned(plan.arenaBytes());
    bytes = scratch + CudaExecution.scratchBytes(plan);
    memory = accelerator.memory().allocate(bytes, "activations");
    pinned = accelerator.pinned().allocate(all, "outputs");
    for (int i = 0; i < outputs.length; i++) {
      outputs[i] += pinned;
    }
    nanos = new long[plan.steps().size()];
    times = new long[nanos.length + 1];
    PlanText text = PlanText.of(plan);
    execution =
        new CudaExecution(
            device,
            accelerator.library().kernels(text.text()),
            plan,
            text,
            new CudaExecution.Addresses(addresses, memory, memory + scratch));
  }

  private static long aligned(long size) {
    return (size + ALIGNMENT - 1) & -ALIGNMENT;
  }

  Engine.Sizes sizes() {
    return new Engine.Sizes(bytes, room, bytes);
  }

  @Override
  public void run() {
    synchronized (accelerator) {
      device.use();
      copyIn();
      boolean isTimed = runs % EACH_TIMED == 1;
      if (isTimed) {
        execution.beginTimed();
      } else {
        execution.begin();
      }
      long stream = device.computeStream();
      for (int i = 0; i < outputs.length; i++) {
        if (outputBytes[i] > 0) {
          device.driver().memory().copyOut(outputs[i], execution.output(i), outputBytes[i], stream);
        }
      }
      for (int i = 0; i < isUpdated.length; i++) {
        if (isUpdated[i]) {
          copies.get(i).isDeviceNewer = true;
        }
      }
      execution.finish();
      if (isTimed) {
        take(execution.nanos());
      }
      for (int i = 0; i < isUpdated.length; i++) {
        if (isUpdated[i] && accelerator.isLent(leaves.get(i))) {
          accelerator.beforeHostReads(leaves.get(i));
        }
      }
      runs++;
      for (int i = 0; i < nanos.length; i++) {
        nanos[i] += times[i + 1] - times[i];
      }
    }
  }

  private void take(long[] measured) {
    for (int i = 0; i < measured.length; i++) {
      times[i + 1] = times[i] + measured[i];
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

  @Override
  public void close() {
    synchronized (accelerator) {
      execution.close();
      accelerator.memory().freeAfter(memory, device.computeStream());
      accelerator.pinned().freeAfter(pinned, device.computeStream());
      for (int i = 0; i < copies.size(); i++) {
        accelerator.dropCopy(leaves.get(i), copies.get(i));
      }
    }
  }
}
