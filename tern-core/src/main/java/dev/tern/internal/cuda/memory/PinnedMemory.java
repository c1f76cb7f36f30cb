package dev.tern.internal.cuda.memory;

import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.driver.CudaException;
import dev.tern.internal.memory.Backing;

/**
 * Pinned memory of the host: devices copy from and to it by themselves, beside the work of the
 * host. It comes and goes with its addresses, as the driver pins whole blocks.
 */
final class PinnedMemory implements Backing {
  private final CudaDevice device;

  PinnedMemory(CudaDevice device) {
    this.device = device;
  }

  @Override
  public boolean isWhole() {
    return true;
  }

  @Override
  public boolean isReplaceable() {
    return false;
  }

  @Override
  public long reserve(long bytes) {
    device.use();
    try {
      return device.driver().memory().allocatePinned(bytes);
    } catch (CudaException e) {
      if (e.isOutOfMemory()) {
        return 0;
      }
      throw e;
    }
  }

  @Override
  public int commit(long address, long bytes) {
    return 0;
  }

  @Override
  public int decommit(long address, long bytes) {
    throw new AssertionError("decommit: pinned memory goes with its addresses");
  }

  @Override
  public int unreserve(long address, long bytes) {
    device.use();
    device.driver().memory().freePinned(address);
    return 1;
  }
}
