package dev.tern.internal.runtime;

import dev.tern.base.ProductMath;
import dev.tern.internal.cuda.driver.CublasLt;
import dev.tern.internal.cuda.driver.CudaCompilers;
import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.driver.CudaDriver;
import dev.tern.internal.cuda.memory.CudaBlocks;
import dev.tern.internal.cuda.run.KernelLibrary;
import dev.tern.internal.cuda.run.TensorCores;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.remat.search.ScheduleFinder;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A CUDA device beside the processor. Leaves lie in the host's memory and have copies on the
 * device, made when a program that reads them is bound. A copy follows its leaf: what the host
 * wrote is copied in before a run, what a run wrote is copied out before the host reads it.
 *
 * <p>Memory that was lent to the host may be written at any time. Its leaf is copied in before each
 * run, and out after each run that writes it.
 */
final class Accelerator implements AutoCloseable {
  private final CudaDevice device;
  private final KernelLibrary library;
  private final CudaBlocks memory;
  private final CudaBlocks pinned;
  private final Optional<TensorCores> cores;
  private final Map<Buffer, LeafCopy> copies = new IdentityHashMap<>();
  private final Set<Buffer> lent = new HashSet<>();
  private final Set<AcceleratedExecution> executions = new HashSet<>();
  private boolean closed;

  private Accelerator(
      CudaDevice device, KernelLibrary library, ProductMath math, long pinnedBudget) {
    this.device = device;
    this.library = library;
    memory = CudaBlocks.onDevice(device, CudaBlocks.defaultBudget(device));
    pinned = CudaBlocks.pinned(device, pinnedBudget);
    cores =
        math == ProductMath.EXACT
            ? Optional.empty()
            : Optional.of(
                TensorCores.open(
                    device, math, memory.allocate(CublasLt.WORKSPACE, "scratch of products")));
  }

  /**
   * Opens CUDA device {@code ordinal}.
   *
   * @param math how products are computed
   * @param pinnedBudget the most bytes of the host's memory for leaves and outputs
   */
  static Accelerator cuda(int ordinal, ProductMath math, long pinnedBudget) {
    CudaDriver driver = CudaDriver.open();
    CudaDevice device = CudaDevice.open(driver, ordinal);
    KernelLibrary library = null;
    try {
      library = new KernelLibrary(device, CudaCompilers.of(driver));
      return new Accelerator(device, library, math, pinnedBudget);
    } catch (RuntimeException e) {
      try (device;
          KernelLibrary made = library) {
        throw e;
      }
    }
  }

  CudaDevice device() {
    return device;
  }

  KernelLibrary library() {
    return library;
  }

  /** What computes products, if these need not be exact. */
  Optional<TensorCores> cores() {
    return cores;
  }

  /** The device's memory. */
  CudaBlocks memory() {
    return memory;
  }

  /** Memory of the host that the device copies from and to at full speed. */
  CudaBlocks pinned() {
    return pinned;
  }

  /**
   * Binds a program within {@code limit} bytes of the device's memory.
   *
   * @param owner of the leaves that change
   */
  synchronized AcceleratedExecution bind(
      Program program, Engine owner, long limit, ScheduleFinder finder) {
    requireOwn(program, owner);
    device.use();
    AcceleratedExecution execution = new AcceleratedExecution(this, program, limit, finder);
    executions.add(execution);
    return execution;
  }

  /** A copy cannot follow a leaf that belongs to another device, which hears of its changes. */
  private static void requireOwn(Program program, Engine owner) {
    for (Node node : program.leaves()) {
      if (((Op.Leaf) node.op()).buffer().owner() instanceof Engine other && other != owner) {
        throw new IllegalArgumentException(
            "computation: got a variable %s of another device, expected those of its own; make the variable on the device that computes"
                .formatted(node));
      }
    }
  }

  /** Bytes that a program may take. */
  long room(long limit) {
    memory.collect();
    return Math.min(limit, memory.allocator().budget() - memory.allocator().live());
  }

  void closed(AcceleratedExecution execution) {
    executions.remove(execution);
  }

  /** The copy of a leaf for one more user. */
  LeafCopy copyOf(Buffer leaf) {
    LeafCopy copy =
        copies.computeIfAbsent(
            leaf,
            buffer -> {
              long address = memory.allocate(buffer.bytes(), "copies of variables");
              return new LeafCopy(buffer.address(), address, buffer.bytes());
            });
    copy.users++;
    return copy;
  }

  /** Ends a use. */
  void dropCopy(Buffer leaf, LeafCopy copy) {
    // The copy of a variable stays until that is closed: another computation may be next.
    boolean isConstant = !(leaf.owner() instanceof Engine);
    if (copies.get(leaf) == copy && --copy.users == 0 && isConstant) {
      copyOut(copy);
      release(leaf);
    }
  }

  boolean isLent(Buffer leaf) {
    return lent.contains(leaf);
  }

  /** From here on the host may write the leaf's memory at any time. */
  synchronized void lend(Buffer leaf) {
    beforeHostReads(leaf);
    lent.add(leaf);
  }

  /** Brings the leaf's memory on the host up to date. */
  synchronized void beforeHostReads(Buffer leaf) {
    LeafCopy copy = copies.get(leaf);
    if (copy != null) {
      copyOut(copy);
    }
  }

  private void copyOut(LeafCopy copy) {
    if (copy.isDeviceNewer) {
      device.use();
      long stream = device.computeStream();
      device.driver().memory().copyOut(copy.host, copy.address, copy.bytes, stream);
      device.driver().streams().synchronize(stream);
      copy.isDeviceNewer = false;
    }
  }

  /** The host is about to write the leaf's memory, all of it or a part. */
  synchronized void beforeHostWrites(Buffer leaf) {
    LeafCopy copy = copies.get(leaf);
    if (copy != null) {
      copyOut(copy);
      copy.isHostNewer = true;
    }
  }

  /** The leaf's memory on the host is about to be freed. */
  synchronized void release(Buffer leaf) {
    lent.remove(leaf);
    LeafCopy copy = copies.remove(leaf);
    if (copy != null) {
      memory.free(copy.address);
    }
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    device.use();
    List.copyOf(executions).forEach(AcceleratedExecution::close);
    try (device;
        library;
        memory;
        pinned) {
      cores.ifPresent(TensorCores::close);
      copies.clear();
    }
  }
}
