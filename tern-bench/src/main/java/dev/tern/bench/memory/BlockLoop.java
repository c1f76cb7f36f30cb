package dev.tern.bench.memory;

import com.sun.management.ThreadMXBean;
import dev.tern.internal.memory.Memory;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;

/** One thread that goes through a pattern with blocks of its own. */
final class BlockLoop {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final BlockPattern pattern;
  private final BlockSource source;
  private final boolean[] isLive;

  BlockLoop(BlockPattern pattern, BlockSource source) {
    this.pattern = pattern;
    this.source = source;
    isLive = new boolean[pattern.slots() + BlockThreads.APART];
  }

  /** Goes through the pattern some times; returns bytes of heap that it took. */
  long run(int rounds) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < rounds; i++) {
      round();
    }
    return THREADS.getCurrentThreadAllocatedBytes() - before;
  }

  private void round() {
    int[] order = pattern.order();
    int[] sizes = pattern.sizes();
    for (int i = 0; i < order.length; i++) {
      int slot = order[i] < 0 ? ~order[i] : order[i];
      if (isLive[slot]) {
        source.free(slot);
      }
      isLive[slot] = order[i] >= 0;
      if (isLive[slot]) {
        source.allocate(slot, sizes[i]);
      }
    }
  }

  /** Frees what is live. */
  void end() {
    for (int slot = 0; slot < isLive.length; slot++) {
      if (isLive[slot]) {
        source.free(slot);
        isLive[slot] = false;
      }
    }
  }

  /** Goes through the pattern once and sees that blocks are apart and keep what is written. */
  void check(String name) {
    TreeMap<Long, Integer> live = new TreeMap<>();
    long[] addresses = new long[pattern.slots()];
    int[] lengths = new int[pattern.slots()];
    for (int i = 0; i < pattern.order().length; i++) {
      int slot = pattern.order()[i];
      int bytes = pattern.sizes()[i];
      if (isLive[slot]) {
        require(isStamped(addresses[slot], lengths[slot]), name, "lost contents");
        live.remove(addresses[slot]);
        source.free(slot);
      }
      addresses[slot] = source.allocate(slot, bytes);
      lengths[slot] = bytes;
      isLive[slot] = true;
      Map.Entry<Long, Integer> below = live.floorEntry(addresses[slot]);
      Map.Entry<Long, Integer> above = live.ceilingEntry(addresses[slot]);
      boolean isApart =
          (below == null || below.getKey() + below.getValue() <= addresses[slot])
              && (above == null || addresses[slot] + bytes <= above.getKey());
      require(isApart, name, "blocks that overlap");
      live.put(addresses[slot], bytes);
      stamp(addresses[slot], bytes);
    }
    end();
  }

  private static void stamp(long address, int bytes) {
    Memory.setByte(address, mark(address));
    Memory.setByte(address + bytes - 1, mark(address));
  }

  private static boolean isStamped(long address, int bytes) {
    return Memory.getByte(address) == mark(address)
        && Memory.getByte(address + bytes - 1) == mark(address);
  }

  private static byte mark(long address) {
    return (byte) (address * 0x9E3779B97F4A7C15L >>> 56);
  }

  private static void require(boolean holds, String name, String what) {
    if (!holds) {
      throw new IllegalStateException("allocator bench: got " + what + " from " + name);
    }
  }
}
