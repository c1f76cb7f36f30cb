package dev.tern.internal.memory;

import java.util.Arrays;
import java.util.Map;

/**
 * The blocks that some threads took, and among them those freed lately: a request for a block of
 * exactly such a size gets one without asking any further. Threads with magazines of their own do
 * not wait for each other. All that is kept can be called in.
 *
 * <p>Thread-safe. Sizes are bytes.
 */
final class Magazine {
  /** Not the address of a live block of this magazine. */
  static final long UNKNOWN = -1;

  /** Freed, and kept for the next request of its size. */
  static final long KEPT = -2;

  private static final int NONE = -1;

  /** How many of a bin are looked at for an exact size. */
  private static final int LOOKS = 4;

  /** Takes back what was kept. */
  @FunctionalInterface
  interface Sink {
    void accept(long address, long handle);
  }

  private final long most;
  private final ArenaStatistics statistics = new ArenaStatistics();
  private final AddressIndex slots = new AddressIndex();
  private long[] address = new long[64];
  private long[] size = new long[64];
  private long[] requested = new long[64];
  private long[] handle = new long[64];
  private String[] holder = new String[64];
  private boolean[] isLive = new boolean[64];

  /** The next slot of its bin, or of those not in use. */
  private int[] next = new int[64];

  private int count;
  private int spare = NONE;
  private final long[] filled = new long[BlockRows.BINS / 64];
  private final int[] bins = new int[BlockRows.BINS];
  private long kept;
  private boolean closed;

  /** A magazine that keeps at most {@code most} bytes. */
  Magazine(long most) {
    this.most = most;
    Arrays.fill(bins, NONE);
  }

  /** Makes a block of exactly {@code bytes} live that was kept; 0 when there is none. */
  synchronized long take(long bytes, long asked, String by) {
    requireOpen("allocate");
    int bin = BlockRows.binOf(bytes);
    int previous = NONE;
    int slot = bins[bin];
    for (int look = 0; slot != NONE && size[slot] != bytes; look++) {
      previous = slot;
      slot = look == LOOKS ? NONE : next[slot];
    }
    if (slot == NONE) {
      return 0;
    }
    unlink(bin, previous, slot);
    enliven(slot, asked, by);
    return address[slot];
  }

  /** Adds a live block. */
  synchronized void add(long at, long bytes, long asked, long byHandle, String by) {
    int slot = spare;
    if (slot != NONE) {
      spare = next[slot];
    } else {
      slot = count++;
      if (slot == size.length) {
        grow(2 * slot);
      }
    }
    address[slot] = at;
    size[slot] = bytes;
    handle[slot] = byHandle;
    slots.put(at, slot);
    enliven(slot, asked, by);
  }

  /** Frees a block: KEPT, UNKNOWN, or the handle of a block that is no longer of this magazine. */
  synchronized long free(long at) {
    requireOpen("free");
    int slot = slots.get(at);
    if (slot == AddressIndex.NONE || !isLive[slot]) {
      return UNKNOWN;
    }
    long bytes = size[slot];
    statistics.freed(bytes, requested[slot]);
    isLive[slot] = false;
    if (bytes > most - kept) {
      forget(slot);
      return handle[slot];
    }
    int bin = BlockRows.binOf(bytes);
    next[slot] = bins[bin];
    bins[bin] = slot;
    filled[bin >>> 6] |= 1L << bin;
    kept += bytes;
    return KEPT;
  }

  /** Hands over all that is kept; false when there is nothing. */
  synchronized boolean drain(Sink sink) {
    if (kept == 0) {
      return false;
    }
    for (int word = 0; word < filled.length; word++) {
      for (long bits = filled[word]; bits != 0; bits &= bits - 1) {
        int bin = (word << 6) + Long.numberOfTrailingZeros(bits);
        for (int slot = bins[bin]; slot != NONE; ) {
          int after = next[slot];
          sink.accept(address[slot], handle[slot]);
          forget(slot);
          slot = after;
        }
        bins[bin] = NONE;
      }
      filled[word] = 0;
    }
    kept = 0;
    return true;
  }

  /** Adds what its live blocks hold to the sums by holder. */
  synchronized void addHoldings(Map<String, Long> sums) {
    for (int slot = 0; slot < count; slot++) {
      if (isLive[slot]) {
        sums.merge(holder[slot], size[slot], Long::sum);
      }
    }
  }

  /** Gives what was counted of live blocks, while nothing changes. */
  synchronized void read(Statistics reader) {
    reader.read(statistics);
  }

  /** Looks at what was counted. */
  @FunctionalInterface
  interface Statistics {
    void read(ArenaStatistics statistics);
  }

  /** Forgets all blocks; the magazine is then unusable. */
  synchronized void close() {
    closed = true;
    for (int slot = 0; slot < count; slot++) {
      if (isLive[slot]) {
        statistics.freed(size[slot], requested[slot]);
        isLive[slot] = false;
      }
    }
  }

  private void enliven(int slot, long asked, String by) {
    isLive[slot] = true;
    requested[slot] = asked;
    // A reference is stored only where it changes: each store marks a card that threads may share.
    if (holder[slot] != by) {
      holder[slot] = by;
    }
    statistics.allocated(size[slot], asked);
  }

  private void unlink(int bin, int previous, int slot) {
    if (previous != NONE) {
      next[previous] = next[slot];
    } else {
      bins[bin] = next[slot];
      if (next[slot] == NONE) {
        filled[bin >>> 6] &= ~(1L << bin);
      }
    }
    kept -= size[slot];
  }

  private void forget(int slot) {
    slots.remove(address[slot]);
    next[slot] = spare;
    spare = slot;
  }

  private void grow(int length) {
    address = Arrays.copyOf(address, length);
    size = Arrays.copyOf(size, length);
    requested = Arrays.copyOf(requested, length);
    handle = Arrays.copyOf(handle, length);
    holder = Arrays.copyOf(holder, length);
    isLive = Arrays.copyOf(isLive, length);
    next = Arrays.copyOf(next, length);
  }

  /** What use of a closed allocator ends in. */
  static IllegalStateException closed(String op) {
    return new IllegalStateException(
        op + ": got a closed allocator, expected an open one; close it after its last user");
  }

  private void requireOpen(String op) {
    if (closed) {
      throw closed(op);
    }
  }
}
