package dev.tern.internal.memory;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayDeque;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The memory behind the blocks of an {@link Allocator} in the checked mode of {@link Memory}. The
 * allocator counts and places blocks as usual, but users get memory of the C library instead. Each
 * block lies between two red zones of 64 bytes that belong to no block, so a checked access past a
 * block is found. Vector code and the system are not checked; their writes past a block are found
 * when it is freed, as its red zones must be unchanged. Freed blocks wait in a quarantine before
 * their memory serves again. A block that has to lie where the allocator has it is only made known.
 *
 * <p>Thread-safe.
 */
final class GuardedBlocks {
  private static final int RED = 64;
  private static final byte MARK = (byte) 0xA5;
  private static final int MOST_FREED = 4096;
  private static final long MOST_FREED_BYTES = 128L << 20;

  /** Freed blocks of all allocators, the oldest first. */
  private static final ArrayDeque<Guarded> QUARANTINE = new ArrayDeque<>();

  private static long quarantined;

  private final Map<Long, Guarded> blocks = new ConcurrentHashMap<>();

  /**
   * A block.
   *
   * @param all the block and its red zones
   * @param memory what the C library gave; 0 for a block that lies where the allocator has it
   * @param counted the allocator's address for it
   */
  private record Guarded(LiveBlocks.Block block, MemorySegment all, long memory, long counted) {
    long bytes() {
      return all.byteSize() - 2 * RED;
    }

    MemorySegment red(boolean behind) {
      return all.asSlice(behind ? RED + bytes() : 0, RED);
    }
  }

  /** The C library; loaded in checked mode alone. */
  private static final class Heap {
    private static final MethodHandle MALLOC =
        Pages.function(
            "malloc", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    private static final MethodHandle FREE =
        Pages.function("free", FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));

    static long allocate(long bytes) {
      return Pages.call("malloc", () -> (long) MALLOC.invokeExact(bytes));
    }

    static void free(long address) {
      long ignored =
          Pages.call(
              "free",
              () -> {
                FREE.invokeExact(address);
                return 0;
              });
    }
  }

  /** Memory, 64-byte aligned, for a block that the allocator has at {@code counted}. */
  long guard(long counted, long bytes, String holder) {
    long memory = Heap.allocate(bytes + 3 * RED);
    if (memory == 0) {
      throw Pages.refused("checked memory", bytes);
    }
    long red = (memory + RED - 1) & -RED;
    MemorySegment all = MemorySegment.ofAddress(red).reinterpret(bytes + 2 * RED);
    LiveBlocks.Block block = LiveBlocks.add(red + RED, bytes, holder);
    Guarded guarded = new Guarded(block, all, memory, counted);
    guarded.red(false).fill(MARK);
    guarded.red(true).fill(MARK);
    blocks.put(red + RED, guarded);
    return red + RED;
  }

  /** Makes a block known that has to lie where the allocator has it; returns its address. */
  long watch(long counted, long bytes, String holder) {
    LiveBlocks.Block block = LiveBlocks.add(counted, bytes, holder);
    blocks.put(counted, new Guarded(block, MemorySegment.NULL, 0, counted));
    return counted;
  }

  /**
   * Ends a block.
   *
   * @return the allocator's address for it; {@code address} itself where that is no live block
   * @throws AssertionError if something was written beside it
   */
  long release(long address) {
    Guarded guarded = blocks.remove(address);
    if (guarded == null) {
      return address;
    }
    if (guarded.memory == 0) {
      LiveBlocks.end(guarded.block);
      LiveBlocks.forget(guarded.block);
      return guarded.counted;
    }
    try {
      requireRed(guarded);
    } finally {
      retire(guarded);
    }
    return guarded.counted;
  }

  /** Ends all blocks. */
  void close() {
    blocks.keySet().forEach(this::release);
  }

  private static void retire(Guarded guarded) {
    LiveBlocks.end(guarded.block);
    synchronized (QUARANTINE) {
      QUARANTINE.add(guarded);
      quarantined += guarded.bytes();
      while (QUARANTINE.size() > MOST_FREED || quarantined > MOST_FREED_BYTES) {
        Guarded oldest = QUARANTINE.remove();
        quarantined -= oldest.bytes();
        LiveBlocks.forget(oldest.block);
        Heap.free(oldest.memory);
      }
    }
  }

  private static void requireRed(Guarded guarded) {
    for (boolean behind : new boolean[] {false, true}) {
      MemorySegment red = guarded.red(behind);
      for (int i = 0; i < RED; i++) {
        int at = behind ? i : RED - 1 - i;
        if (red.get(ValueLayout.JAVA_BYTE, at) != MARK) {
          throw new AssertionError(
              String.format(
                  Locale.ROOT,
                  "memory: got a write at %d bytes %s block %s, expected writes inside of it",
                  behind ? i : RED - at,
                  behind ? "past the end of" : "before",
                  guarded.block));
        }
      }
    }
  }
}
