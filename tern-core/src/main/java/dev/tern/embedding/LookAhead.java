package dev.tern.embedding;

import dev.tern.data.Batch;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread that looks up the next batch while the current one is computed. It works table by table.
 * Whoever stops it waits only for the table under way and looks up the others itself. It only
 * reads, so no result depends on it.
 */
final class LookAhead implements AutoCloseable {
  private final List<EmbeddingTable> tables;

  /** Per table: takes what is looked up; belongs to the thread while {@link #busy}. */
  private final TableBatch[] parts;

  /** Per table: whether it was looked up, and what went wrong. */
  private final boolean[] done;

  private final @Nullable Throwable[] failures;

  /** Per table: how often a lookup was found done. */
  private final long[] taken;

  // Guarded by this.
  private @Nullable Batch batch;
  private int next;
  private boolean busy;
  private boolean started;
  private boolean closed;

  /** Whether the thread may start to read more rows. */
  private volatile boolean going;

  private final BooleanSupplier goOn = () -> going;

  LookAhead(SlotTables slots) {
    tables = slots.tables();
    parts = slots.newBatch();
    done = new boolean[parts.length];
    failures = new @Nullable Throwable[parts.length];
    taken = new long[parts.length];
    next = parts.length;
  }

  /** Begins with a batch, which must stay as it is until {@link #end}. */
  synchronized void begin(Batch ahead) {
    if (closed || batch != null) {
      throw new IllegalStateException(
          "look-ahead: got a batch after close or before the end of another; end that first");
    }
    batch = ahead;
    Arrays.fill(done, false);
    Arrays.fill(failures, null);
    next = 0;
    going = true;
    if (!started) {
      started = true;
      Thread.ofPlatform().daemon().name("tern-look-ahead").start(this::work);
    }
    notifyAll();
  }

  /** Whether all tables were looked up. For tests. */
  synchronized boolean isDone() {
    return next == parts.length && !busy;
  }

  /**
   * How often {@link #take} found a table looked up, over all tables. For tests, between two
   * batches.
   */
  long taken() {
    return Arrays.stream(taken).sum();
  }

  /** Ends; returns whether {@code wanted} is the batch that was looked up. */
  synchronized boolean end(Batch wanted) {
    boolean same = batch == wanted;
    end();
    return same;
  }

  /** Ends: what was looked up is forgotten. */
  synchronized void end() {
    stop();
    batch = null;
  }

  /** Stops the thread and waits until it no longer reads the batch or a table. */
  synchronized void stop() {
    next = parts.length;
    going = false;
    boolean interrupted = false;
    while (busy) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * After {@link #end}: puts what was looked up in a table in the place of another lookup.
   *
   * @return whether it was looked up
   */
  boolean take(int table, TableBatch[] into) {
    if (!done[table]) {
      return false;
    }
    Throwable failure = failures[table];
    switch (failure) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(failure);
    }
    TableBatch before = into[table];
    into[table] = parts[table];
    parts[table] = before;
    taken[table]++;
    return true;
  }

  private void work() {
    for (int table = nextTable(); table < parts.length; table = nextTable()) {
      Throwable failure = null;
      try {
        lookUp(Objects.requireNonNull(batch), table);
      } catch (Throwable e) {
        failure = e;
      }
      finish(table, failure);
    }
  }

  /** The next table to look up in, once there is one; past the last after close. */
  private synchronized int nextTable() {
    while (!closed && next == parts.length) {
      try {
        wait();
      } catch (InterruptedException e) {
        // It ends by close alone.
      }
    }
    busy = !closed;
    return closed ? parts.length : next++;
  }

  /** While busy: the batch stays. */
  private void lookUp(Batch rows, int table) {
    TableBatch part = parts[table];
    part.take(rows);
    tables.get(table).lookAhead(part.ids(), part.count(), part.lookup(), goOn);
  }

  private synchronized void finish(int table, @Nullable Throwable failure) {
    failures[table] = failure;
    done[table] = true;
    busy = false;
    notifyAll();
  }

  /** Ends, and so does the thread. */
  @Override
  public synchronized void close() {
    end();
    closed = true;
    notifyAll();
  }
}
