package dev.tern.exchange;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Memory for operations that sum: as many areas as such operations were in flight at once. An area
 * grows to the most that an operation asked for, then stays.
 */
final class Scratch {
  private final List<Area> free = new ArrayList<>();

  /** Memory that one operation uses at a time. */
  static final class Area {
    private MemorySegment memory = MemorySegment.NULL;

    long address() {
      return memory.address();
    }
  }

  Area take(long bytes) {
    Area area = free.isEmpty() ? new Area() : free.removeLast();
    if (area.memory.byteSize() < bytes) {
      long twice = Math.max(bytes, 2 * area.memory.byteSize());
      area.memory = Memory.allocate(Arena.ofAuto(), twice, 64, "exchange");
    }
    return area;
  }

  void give(Area area) {
    free.add(area);
  }
}
