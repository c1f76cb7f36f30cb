package dev.tern.internal.table;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which calls of a table may run side by side; the package description has a table. A call
 * ends in the thread in which it began.
 *
 * <p>Snapshots and changes take turns, first come, first served ({@link #turn}). A change then
 * waits for the reads that have begun, and later reads wait for it ({@link #reads}); a snapshot
 * does not. So reads wait for a batch that is changed, never for a snapshot or what waits for one,
 * nor for each other's cache lines. All locks are taken in this order. Beginning and ending
 * allocate nothing where nobody waits.
 */
public final class TableLock {
  /** What a call does with the table. */
  public enum Use {
    /** Changes nothing. */
    READ,
    /** Changes nothing, but takes long or needs buffers of which the table has one set. */
    SNAPSHOT,
    /** Changes the table. */
    CHANGE
  }

  /** A call that has begun; closing it ends the call. There is one object for each use. */
  public final class Call implements AutoCloseable {
    private final Use use;

    private Call(Use use) {
      this.use = use;
    }

    @Override
    public void close() {
      if (use == Use.READ) {
        reads.leave();
        return;
      }
      if (use == Use.CHANGE) {
        reads.open();
      }
      turn.unlock();
    }
  }

  private final String table;
  private final ReentrantLock turn = new ReentrantLock(true);
  private final ReadGate reads = new ReadGate();
  private final Call read = new Call(Use.READ);
  private final Call snapshot = new Call(Use.SNAPSHOT);
  private final Call change = new Call(Use.CHANGE);

  /** The thread in which a change calls its source, where that is not its own. */
  private volatile @Nullable Thread source;

  public TableLock(String table) {
    this.table = table;
  }

  /**
   * Waits until a call may begin.
   *
   * @throws IllegalStateException if it is made within a call of the same thread that it would wait
   *     for: by a source or sink of rows
   */
  public Call begin(Use use) {
    boolean within = turn.isHeldByCurrentThread() && (use != Use.READ || reads.isShut());
    if (within || source == Thread.currentThread()) {
      throw new IllegalStateException(
          "table %s: got a call by the source or sink of an import or export of it, which the call"
                  .formatted(table)
              + " would wait for; make it afterwards");
    }
    if (use == Use.READ) {
      reads.enter();
      return read;
    }
    turn.lock();
    if (use == Use.CHANGE) {
      reads.shut();
    }
    return use == Use.CHANGE ? change : snapshot;
  }

  /** Calls the source of a change from any thread; calls of the table within it are refused. */
  public boolean source(BooleanSupplier call) {
    source = Thread.currentThread();
    try {
      return call.getAsBoolean();
    } finally {
      source = null;
    }
  }
}
