package dev.tern.internal.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.StampedLock;

/**
 * Lets readers through side by side, and shuts them out for a change. A reader counts itself in and
 * out at a count that it shares with few other threads, so readers on many cores do not wait for
 * each other's cache line as they would at one lock (as in BRAVO: Dice and Kogan, "BRAVO: Biased
 * Locking for Reader-Writer Locks", USENIX ATC 2019). A change pays for it: it looks at all counts.
 *
 * <p>A reader enters and leaves in the same thread and does not enter twice.
 */
final class ReadGate {
  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);

  /** Counts are 128 bytes apart: processors fetch cache lines of 64 in pairs. */
  private static final int SPACING = 16;

  private static final int SPINS = 1000;
  private static final long PAUSE_NANOS = 20_000;

  /** Power of two, at least one a processor. */
  private final int stripes =
      2 * Integer.highestOneBit(Math.max(1, Runtime.getRuntime().availableProcessors() - 1));

  private final long[] counts = new long[SPACING * (stripes + 1)];
  private volatile boolean shut;

  /** Where readers wait who found the gate shut, and changes for each other. */
  private final StampedLock waiting = new StampedLock();

  private final Lock reader = waiting.asReadLock();
  private final Lock change = waiting.asWriteLock();

  /** Counts a reader in, as soon as the gate is open. */
  void enter() {
    int stripe = stripe();
    COUNT.getAndAdd(counts, stripe, 1L);
    // A change shuts the gate and then looks at the counts: it sees this one, or is seen here.
    if (shut) {
      COUNT.getAndAdd(counts, stripe, -1L);
      enterInTurn(stripe);
    }
  }

  private void enterInTurn(int stripe) {
    reader.lock();
    try {
      COUNT.getAndAdd(counts, stripe, 1L);
    } finally {
      reader.unlock();
    }
  }

  /** Counts a reader out. */
  void leave() {
    COUNT.getAndAdd(counts, stripe(), -1L);
  }

  /** Keeps new readers out and waits for those within to leave. */
  void shut() {
    change.lock();
    shut = true;
    for (int stripe = SPACING; stripe < counts.length; stripe += SPACING) {
      for (int spins = 0; (long) COUNT.getVolatile(counts, stripe) != 0; spins++) {
        if (spins < SPINS) {
          Thread.onSpinWait();
        } else {
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
    }
  }

  boolean isShut() {
    return shut;
  }

  /** Lets readers in again. */
  void open() {
    shut = false;
    change.unlock();
  }

  private int stripe() {
    return SPACING * (1 + ((int) Thread.currentThread().threadId() & (stripes - 1)));
  }
}
