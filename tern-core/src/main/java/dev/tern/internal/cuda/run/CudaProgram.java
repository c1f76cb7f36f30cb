package dev.tern.internal.cuda.run;

import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.text.PlanText;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.plan.Plan;
import java.util.List;
import java.util.Optional;

/**
 * A program on a device, with memory for its leaves, whose content comes from those of the host.
 */
public final class CudaProgram implements AutoCloseable {
  private static final int ALIGNMENT = 256;

  private final CudaDevice device;
  private final Program program;
  private final Plan plan;
  private final long memory;
  private final long[] leaves;
  private final CudaExecution execution;

  /**
   * Gives a program memory and makes it ready.
   *
   * @param plan of it, made for a device
   * @param text of the plan
   * @param kernels of the text
   */
  public CudaProgram(
      CudaDevice device, Program program, Plan plan, PlanText text, KernelLibrary.Kernels kernels) {
    this.device = device;
    this.program = program;
    this.plan = plan;
    device.use();
    leaves = new long[plan.leaves().length];
    long end = 0;
    for (int i = 0; i < leaves.length; i++) {
      leaves[i] = end;
      end = aligned(end + bytes(leaf(i)));
    }
    long arena = end;
    long scratch = aligned(arena + plan.arenaBytes());
    long all = scratch + Math.max(1, CudaExecution.scratchBytes(plan, Optional.empty()));
    memory = device.driver().memory().allocate(all);
    for (int i = 0; i < leaves.length; i++) {
      leaves[i] += memory;
    }
    CudaExecution.Addresses at =
        new CudaExecution.Addresses(leaves, memory + arena, memory + scratch);
    execution = new CudaExecution(device, kernels, plan, text, at, Optional.empty());
  }

  private static long aligned(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  private Node leaf(int index) {
    return program.leaves().get(plan.leaves()[index]);
  }

  private static long bytes(Node node) {
    return (long) node.shape().elements() * node.type().bytes();
  }

  private static long host(Node leaf) {
    return ((Op.Leaf) leaf.op()).buffer().address();
  }

  /** Copies the leaves from the host. */
  public void upload() {
    device.use();
    for (int i = 0; i < leaves.length; i++) {
      long bytes = bytes(leaf(i));
      if (bytes > 0) {
        device.driver().memory().copyIn(leaves[i], host(leaf(i)), bytes, device.computeStream());
      }
    }
    device.driver().streams().synchronize(device.computeStream());
  }

  /** Runs the program once. */
  public void run() {
    execution.run();
  }

  /** Copies the leaves that the program updates to the host. */
  public void download() {
    List<Node> updated = program.updates().stream().map(Program.Update::leaf).toList();
    for (int i = 0; i < leaves.length; i++) {
      if (updated.contains(leaf(i))) {
        copyOut(host(leaf(i)), leaves[i], bytes(leaf(i)));
      }
    }
  }

  /** Copies output {@code index}, dense, to a place in the host's memory. */
  public void output(int index, long to) {
    copyOut(to, execution.output(index), bytes(program.outputs().get(index)));
  }

  private void copyOut(long to, long from, long bytes) {
    device.use();
    if (bytes > 0) {
      device.driver().memory().copyOut(to, from, bytes, device.computeStream());
      device.driver().streams().synchronize(device.computeStream());
    }
  }

  public CudaExecution execution() {
    return execution;
  }

  @Override
  public void close() {
    execution.close();
    device.use();
    device.driver().memory().free(memory);
  }
}
