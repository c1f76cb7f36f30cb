package dev.tern.exchange;

import dev.tern.internal.memory.Memory;
import java.nio.ByteBuffer;

/**
 * Buffers over memory at any address, for channels, without an object a message: a window covers 1
 * GB of addresses and a bit more, so that each range of at most 32 MB lies in one. Each use sets
 * its position and limit; a window is good until the next call.
 */
final class AddressWindows {
  private static final int SHIFT = 30;
  private static final int BYTES = (1 << SHIFT) + (32 << 20);
  private static final int SLOTS = 256;

  private final long[] keys = new long[SLOTS];
  private final ByteBuffer[] windows = new ByteBuffer[SLOTS];

  ByteBuffer of(long address, int bytes) {
    long key = address >>> SHIFT;
    int slot = (int) (key ^ key >>> 8 ^ key >>> 16) & SLOTS - 1;
    ByteBuffer window = windows[slot];
    if (window == null || keys[slot] != key) {
      window = Memory.ALL.asSlice(key << SHIFT, BYTES).asByteBuffer();
      windows[slot] = window;
      keys[slot] = key;
    }
    int from = (int) (address - (key << SHIFT));
    return window.limit(from + bytes).position(from);
  }
}
