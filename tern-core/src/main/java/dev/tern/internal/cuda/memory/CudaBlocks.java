package dev.tern.internal.cuda.memory;

import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.driver.CudaMemory;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.MemorySnapshot;
import dev.tern.internal.memory.MemoryStatistics;
import dev.tern.internal.memory.OutOfBudgetException;

/**
 * Blocks of a device's memory, or of pinned memory of the host, under one budget. Streams use
 * blocks later than the host asks them to. So a block goes back in one of two ways: at once where
 * nothing uses it, or behind the work that streams have by then. A request that finds no room waits
 * for blocks of the second kind before it is refused.
 *
 * <p>Blocks are aligned to 256 bytes. Their contents are undefined. Thread-safe.
 */
public final class CudaBlocks implements AutoCloseable {
  /** The alignment in bytes: what a warp of threads reads together lies in whole lines. */
  public static final long ALIGNMENT = 256;

  /** Of the memory that is free on the device, the share that a budget takes by default. */
  private static final double SHARE = 0.9;

  private final CudaDevice device;
  private final Allocator allocator;
  private final WaitingBlocks waiting;
  private boolean closed;

  private CudaBlocks(CudaDevice device, Allocator allocator) {
    this.device = device;
    this.allocator = allocator;
    waiting = new WaitingBlocks(device, allocator::free);
  }

  /**
   * Memory of a device.
   *
   * @param budgetBytes the most bytes held from the driver, rounded down to whole units of it
   */
  public static CudaBlocks onDevice(CudaDevice device, long budgetBytes) {
    return new CudaBlocks(device, Allocator.of(budgetBytes, new DeviceMemory(device, budgetBytes)));
  }

  /** Pinned memory of the host, for copies from and to a device. */
  public static CudaBlocks pinned(CudaDevice device, long budgetBytes) {
    return new CudaBlocks(device, Allocator.of(budgetBytes, new PinnedMemory(device)));
  }

  /** A budget for a device that other processes may use too: 90% of what is free. */
  public static long defaultBudget(CudaDevice device) {
    device.use();
    CudaMemory.Bytes bytes = device.driver().memory().bytes();
    return (long) (bytes.free() * SHARE);
  }

  /**
   * The address of a new block of at least {@code bytes} bytes.
   *
   * @param holder who holds it, for messages and reports
   * @throws OutOfBudgetException when neither free places nor waiting blocks have room for it
   */
  public synchronized long allocate(long bytes, String holder) {
    waiting.collect();
    long size =
        bytes > Long.MAX_VALUE - ALIGNMENT
            ? bytes
            : Math.max(ALIGNMENT, (bytes + ALIGNMENT - 1) & -ALIGNMENT);
    try {
      return allocator.allocate(size, holder);
    } catch (OutOfBudgetException e) {
      if (waiting.drain() == 0) {
        throw e;
      }
      return allocator.allocate(size, holder);
    }
  }

  /** Gives a block back that no stream uses. */
  public synchronized void free(long address) {
    allocator.free(address);
  }

  /** Gives a block back behind the work that some streams have now. */
  public synchronized void freeAfter(long address, long... streams) {
    waiting.add(address, streams);
  }

  /** Frees blocks whose streams are done by now; returns how many. */
  public synchronized int collect() {
    return waiting.collect();
  }

  /** How many blocks wait for streams. */
  public synchronized int waiting() {
    return waiting.count();
  }

  /** Waits for streams that use freed blocks, then gives memory of free places to the driver. */
  public synchronized long trim() {
    waiting.drain();
    return allocator.trim();
  }

  /** The allocator of the blocks, for plans that take their arena from it. */
  public Allocator allocator() {
    return allocator;
  }

  /** What was counted so far; blocks that wait are live. */
  public MemoryStatistics statistics() {
    return allocator.statistics();
  }

  /** All memory at one moment. */
  public MemorySnapshot snapshot() {
    return allocator.snapshot();
  }

  /** Waits for all work of the device, and gives all memory back, live blocks included. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    try (allocator;
        waiting) {
      device.synchronize();
    }
  }
}
