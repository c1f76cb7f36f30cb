package dev.tern.tensor;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Bounded segments over memory of a device. Access to one is an IllegalStateException once its
 * holder, or the device, is closed.
 */
final class LentMemory implements AutoCloseable {
  private final Device device;
  private final Arena arena = Arena.ofShared();

  LentMemory(Device device) {
    this.device = device;
    device.lends(this);
  }

  MemorySegment segment(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes, arena, null);
  }

  @Override
  public void close() {
    if (device.takesBack(this)) {
      arena.close();
    }
  }
}
