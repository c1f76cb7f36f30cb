package dev.tern.internal.cuda.memory;

import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.driver.CudaException;
import dev.tern.internal.cuda.driver.CudaVirtualMemory;
import dev.tern.internal.memory.Backing;
import dev.tern.internal.memory.OutOfBudgetException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Memory of a device behind addresses that are reserved first. Each {@link #unit} of addresses has
 * a piece of memory of its own, so that any unit can be given back. The host cannot reach it.
 *
 * <p>Who takes memory away must know that no work of the device uses it.
 */
final class DeviceMemory implements Backing {
  /** Beyond this budget, fewer and larger pieces cost less time than they waste memory. */
  private static final long LARGE_BUDGET = 4L << 30;

  private static final long LARGE_UNIT = 32 << 20;

  private final CudaDevice device;
  private final CudaVirtualMemory virtual;
  private final long unit;

  /** Pieces by the address that they are behind. */
  private final NavigableMap<Long, Long> pieces = new TreeMap<>();

  DeviceMemory(CudaDevice device, long budget) {
    if (!device.limits().reservesAddresses()) {
      throw new IllegalStateException(
          "device: got cuda:%d %s, which cannot reserve addresses, expected one that can; use a"
                  .formatted(device.ordinal(), device.name())
              + " device of compute capability 7.0 or higher");
    }
    this.device = device;
    virtual = device.driver().memory().virtual();
    long smallest = virtual.granularity(device.handle());
    unit = budget > LARGE_BUDGET ? Math.max(smallest, LARGE_UNIT) : smallest;
  }

  @Override
  public boolean isWhole() {
    return false;
  }

  @Override
  public long unit() {
    return unit;
  }

  @Override
  public boolean isReadable() {
    return false;
  }

  @Override
  public int device() {
    return device.ordinal();
  }

  @Override
  public long reserve(long bytes) {
    try {
      return virtual.reserve(whole(bytes));
    } catch (CudaException e) {
      if (e.isOutOfMemory()) {
        return 0;
      }
      throw e;
    }
  }

  @Override
  public synchronized int commit(long address, long bytes) {
    List<Long> made = new ArrayList<>();
    try {
      for (long at = address; at < address + bytes; at += unit) {
        long piece = virtual.create(unit, device.handle());
        try {
          virtual.map(at, unit, piece);
        } catch (CudaException e) {
          giveUp(e, () -> virtual.release(piece));
          throw e;
        }
        pieces.put(at, piece);
        made.add(at);
      }
      virtual.allow(address, bytes, device.handle());
    } catch (CudaException e) {
      made.forEach(at -> giveUp(e, () -> take(at)));
      throw e.isOutOfMemory() ? new OutOfBudgetException(String.valueOf(e.getMessage())) : e;
    }
    return 2 * made.size() + 1;
  }

  @Override
  public synchronized int decommit(long address, long bytes) {
    for (long at = address; at < address + bytes; at += unit) {
      take(at);
    }
    return (int) (2 * bytes / unit);
  }

  @Override
  public synchronized int unreserve(long address, long bytes) {
    List<Long> left = List.copyOf(pieces.subMap(address, address + bytes).keySet());
    left.forEach(this::take);
    virtual.unreserve(address, whole(bytes));
    return 2 * left.size() + 1;
  }

  private void take(long address) {
    Long piece = pieces.get(address);
    if (piece == null) {
      throw new IllegalStateException(
          "device memory: got 0x%x, which has no memory, expected a unit that has; report this"
              .formatted(address));
    }
    virtual.unmap(address, unit);
    pieces.remove(address);
    virtual.release(piece);
  }

  private long whole(long bytes) {
    return (bytes + unit - 1) & -unit;
  }

  /** Undoes one thing after a failure; what fails meanwhile goes with that. */
  private static void giveUp(CudaException failure, Runnable undo) {
    try {
      undo.run();
    } catch (CudaException e) {
      failure.addSuppressed(e);
    }
  }
}
