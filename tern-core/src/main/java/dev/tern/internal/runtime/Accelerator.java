package dev.tern.internal.runtime;

import dev.tern.internal.cuda.driver.CudaCompilers;
import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.driver.CudaDriver;
import dev.tern.internal.cuda.memory.CudaBlocks;
import dev.tern.internal.cuda.run.KernelLibrary;
import dev.tern.internal.ir.Program;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.plan.Plan;
import dev.tern.internal.plan.Planner;
import dev.tern.internal.remat.NoRoomException;
import dev.tern.internal.remat.search.ScheduleFinder;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
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
  private final Map<Buffer, LeafCopy> copies = new IdentityHashMap<>();
  private final Set<Buffer> lent = new HashSet<>();

  private Accelerator(CudaDevice device, KernelLibrary library, long pinnedBudget) {
    this.device = device;
    this.library = library;
    memory = CudaBlocks.onDevice(device, CudaBlocks.defaultBudget(device));
    pinned = CudaBlocks.pinned(device, pinnedBudget);
  }

  /**
   * Opens CUDA device {@code ordinal}.
   *
   * @param pinnedBudget the most bytes of the host's memory for leaves and outputs
   */
  static Accelerator cuda(int ordinal, long pinnedBudget) {
    CudaDriver driver = CudaDriver.open();
    CudaDevice device = CudaDevice.open(driver, ordinal);
    try {
      return new Accelerator(
          device, new KernelLibrary(device, CudaCompilers.of(driver)), pinnedBudget);
    } catch (RuntimeException e) {
      device.close();
      throw e;
    }
  }

  CudaDevice device() {
    return device;
  }

  KernelLibrary library() {
    return library;
  }

  /** The device's memory. */
  CudaBlocks memory() {
    return memory;
  }

  /** Memory of the host that the device copies from and to at full speed. */
  CudaBlocks pinned() {
    return pinned;
  }

  /** Binds a program within {@code limit} bytes of the device's memory. */
  synchronized AcceleratedExecution bind(Program program, long limit, ScheduleFinder finder) {
    device.use();
    long room = Math.min(limit, memory.allocator().budget() - memory.allocator().live());
    try {
      Plan plan = Planner.planForDevice(program, room, finder);
      return new AcceleratedExecution(this, program, plan, room);
    } catch (NoRoomException e) {
      throw new OutOfBudgetException(
          "%s; in all there were %d bytes of the device's memory for its values"
              .formatted(e.getMessage(), room));
    }
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

  /** Ends a use; the last one copies out what the device wrote. */
  void dropCopy(Buffer leaf, LeafCopy copy) {
    if (copies.get(leaf) == copy && --copy.users == 0) {
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
      memory.freeAfter(copy.address, device.computeStream());
    }
  }

  @Override
  public synchronized void close() {
    device.use();
    try (device;
        library;
        memory;
        pinned) {
      copies.clear();
    }
  }
}
