package dev.tern.internal.memory;

import dev.tern.internal.memory.AllocationHistory.Action;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Map;

/**
 * The live blocks of some threads, and freed blocks that it keeps. A request for exactly the size
 * of a kept block gets it without the pool's lock, so threads with different magazines do not wait
 * for each other. {@link #drain} takes all kept blocks away.
 *
 * <p>Thread-safe. Sizes are bytes.
 */
final class Magazine {
  /** Not the address of a live block of this magazine. */
  static final long UNKNOWN = -1;

  /** The block was freed and is kept for the next request of its size. */
  static final long KEPT = -2;

  private static final int NONE = MagazineRows.NONE;
  private static final VarHandle LOCKED;

  static {
    try {
      LOCKED = MethodHandles.lookup().findVarHandle(Magazine.class, "locked", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** How often a thread tries to take the lock before it lets others run. */
  private static final int SPINS = 100;

  /** After how many other blocks of a bin the search for the exact size ends. */
  private static final int LOOKS = 4;

  /** Takes back a kept block. */
  @FunctionalInterface
  interface Sink {
    void accept(long address, long handle);
  }

  @SuppressWarnings("UnusedVariable") // Used through LOCKED.
  private volatile int locked;

  /** Run by a thread that finds the lock taken. */
  private final Runnable wasTaken;

  private final long most;
  private final AllocationHistory history;

  /** Whether the history is on: a copy, as it is read for each block. */
  private boolean isRecorded;

  private long kept;

  // Live blocks: their number, their bytes, and the bytes asked for. Others read these between lock
  // and unlock. They are made before the arrays, which then lie between the counters of two
  // magazines: threads write counters for each block, and the counters of two magazines must not
  // share a cache line.
  final Gauge blocks = new Gauge();
  final Gauge allocated = new Gauge();
  final Gauge requested = new Gauge();

  private final MagazineRows rows = new MagazineRows();

  /** The first slot of the list of kept blocks, by bin of their size. */
  private final int[] bins = new int[BlockRows.BINS];

  /** A magazine that keeps at most {@code most} bytes. */
  Magazine(long most, AllocationHistory history, Runnable wasTaken) {
    this.most = most;
    this.history = history;
    this.wasTaken = wasTaken;
    Arrays.fill(bins, NONE);
  }

  /** Makes a kept block of exactly {@code bytes} live again; 0 when there is none. */
  long take(long bytes, long asked, String by) {
    lock();
    try {
      int bin = BlockRows.binOf(bytes);
      int previous = NONE;
      int slot = bins[bin];
      for (int look = 0; slot != NONE && rows.size(slot) != bytes; look++) {
        previous = slot;
        slot = look == LOOKS ? NONE : rows.next(slot);
      }
      if (slot == NONE) {
        return 0;
      }
      if (previous == NONE) {
        bins[bin] = rows.next(slot);
      } else {
        rows.setNext(previous, rows.next(slot));
      }
      kept -= bytes;
      enliven(slot, bytes, asked, by);
      return rows.address(slot);
    } finally {
      unlock();
    }
  }

  /** Adds a live block. */
  void add(long address, long bytes, long asked, long handle, String by) {
    lock();
    try {
      enliven(rows.add(address, bytes, handle), bytes, asked, by);
    } finally {
      unlock();
    }
  }

  /** Frees a block. Returns KEPT or UNKNOWN, or the handle of a block that is not kept. */
  long free(long address) {
    lock();
    try {
      int slot = rows.find(address);
      if (slot == NONE || rows.requested(slot) == MagazineRows.NOT_LIVE) {
        return UNKNOWN;
      }
      if (isRecorded) {
        note(Action.FREE, slot);
      }
      long bytes = rows.size(slot);
      remove(1, bytes, rows.requested(slot));
      rows.setRequested(slot, MagazineRows.NOT_LIVE);
      if (bytes > most - kept) {
        rows.remove(slot);
        return rows.handle(slot);
      }
      int bin = BlockRows.binOf(bytes);
      rows.setNext(slot, bins[bin]);
      bins[bin] = slot;
      kept += bytes;
      return KEPT;
    } finally {
      unlock();
    }
  }

  /** Hands over all kept blocks; false when there are none. */
  boolean drain(Sink sink) {
    lock();
    try {
      if (kept == 0) {
        return false;
      }
      for (int bin = 0; bin < bins.length; bin++) {
        for (int slot = bins[bin]; slot != NONE; ) {
          int after = rows.next(slot);
          sink.accept(rows.address(slot), rows.handle(slot));
          rows.remove(slot);
          slot = after;
        }
        bins[bin] = NONE;
      }
      kept = 0;
      return true;
    } finally {
      unlock();
    }
  }

  /** Adds its live blocks by address; between {@link #lock} and {@link #unlock}. */
  void describe(Map<Long, MemorySnapshot.Block> known) {
    for (int slot = 0; slot < rows.count(); slot++) {
      long asked = rows.requested(slot);
      if (asked != MagazineRows.NOT_LIVE) {
        long address = rows.address(slot);
        known.put(
            address,
            new MemorySnapshot.Block(
                address, rows.size(slot), asked, MemorySnapshot.State.LIVE, rows.holder(slot)));
      }
    }
  }

  /** To be called when the history was turned on or off. */
  void record() {
    lock();
    isRecorded = history.isOn();
    unlock();
  }

  /** Forgets all blocks. */
  void close() {
    lock();
    try {
      remove(blocks.current(), allocated.current(), requested.current());
      rows.clear();
      Arrays.fill(bins, NONE);
      kept = 0;
    } finally {
      unlock();
    }
  }

  private void enliven(int slot, long bytes, long asked, String by) {
    rows.setRequested(slot, asked);
    rows.setHolder(slot, by);
    blocks.add(1);
    allocated.add(bytes);
    requested.add(asked);
    if (isRecorded) {
      note(Action.ALLOCATE, slot);
    }
  }

  private void note(Action action, int slot) {
    history.note(action, rows.address(slot), rows.size(slot), rows.holder(slot));
  }

  private void remove(long number, long bytes, long asked) {
    blocks.remove(number);
    allocated.remove(bytes);
    requested.remove(asked);
  }

  /** Locks by one atomic operation, where a monitor takes two. */
  void lock() {
    if (!LOCKED.compareAndSet(this, 0, 1)) {
      await();
    }
  }

  private void await() {
    wasTaken.run();
    for (int spin = 0; !LOCKED.compareAndSet(this, 0, 1); spin++) {
      if (spin < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  void unlock() {
    LOCKED.setRelease(this, 0);
  }
}
