package dev.tern.internal.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.StampedLock;

/**
 * Lets readers through side by side, and shuts them out for a change. Each reader increments one of
 * many counts, picked by its thread, so readers on many cores do not compete for one cache line (as
 * in BRAVO: Dice and Kogan, "BRAVO: Biased Locking for Reader-Writer Locks", USENIX ATC 2019). In
 * return, a change must read all counts.
 *
 * <p>A reader leaves in the thread in which it entered, and does not enter twice.
 */
final class ReadGate {
  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);

  /** Counts are 128 bytes apart: processors fetch cache lines of 64 in pairs. */
  private static final int SPACING = 16;

  private static final int SPINS = 1000;
  private static final long PAUSE_NANOS = 20_000;

  /** Number of counts: a power of two, at least one for each processor. */
  private final int stripes =
      2 * Integer.highestOneBit(Math.max(1, Runtime.getRuntime().availableProcessors() - 1));

  private final long[] counts = new long[SPACING * (stripes + 1)];
  private volatile boolean shut;

  /** Readers wait here while the gate is shut, and changes for each other. */
  private final StampedLock waiting = new StampedLock();

  private final Lock reader = waiting.asReadLock();
  private final Lock change = waiting.asWriteLock();

  /** Counts a reader in, as soon as the gate is open. */
  void enter() {
    int stripe = stripe();
    COUNT.getAndAdd(counts, stripe, 1L);
    // A change sets shut and then reads the counts: either it sees this count, or we see shut.
    if (shut) {
      COUNT.getAndAdd(counts, stripe, -1L);
      reader.lock();
      COUNT.getAndAdd(counts, stripe, 1L);
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
