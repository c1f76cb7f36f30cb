package dev.tern.embedding;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;

/** Memory of a device that grows to the most that was asked for. */
final class NativeRoom implements AutoCloseable {
  private final Allocator allocator;
  private final String holder;
  private MemorySegment room = MemorySegment.NULL;

  NativeRoom(Allocator allocator, String holder) {
    this.allocator = allocator;
    this.holder = holder;
  }

  /** Makes it {@code bytes} long at least; when it grows, its content is lost. */
  void grow(long bytes) {
    if (room.byteSize() < bytes) {
      close();
      long size = bytes + bytes / 4;
      room = Memory.segment(allocator.allocate(size, holder), size);
    }
  }

  MemorySegment segment() {
    return room;
  }

  long address() {
    return room.address();
  }

  @Override
  public void close() {
    if (room.byteSize() > 0) {
      allocator.free(room.address());
      room = MemorySegment.NULL;
    }
  }
}
