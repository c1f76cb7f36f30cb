package dev.tern.embedding;

import dev.tern.data.Batch;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread that looks up the next batch while the current one is computed, table by table. To stop
 * it is to wait for the table it is at; the caller then looks up the other tables itself. It only
 * reads, so no result depends on it.
 */
final class LookAhead implements AutoCloseable {
  private final List<EmbeddingTable> tables;

  /** Per table: takes what is looked up. Only the thread uses these while {@link #busy}. */
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

  /** Whether the thread may read more rows of a file. */
  private volatile boolean going;

  private final BooleanSupplier goOn = () -> going;

  LookAhead(SlotTables slots, SlotPlaces places) {
    tables = slots.tables();
    parts = slots.newBatch(places);
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

  /** How often {@link #take} found a table looked up. For tests, between two batches. */
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
        TableBatch part = parts[table];
        part.take(Objects.requireNonNull(batch));
        tables.get(table).lookAhead(part.ids, part.count(), part.lookup, goOn);
      } catch (Throwable e) {
        failure = e;
      }
      finish(table, failure);
    }
  }

  /** Waits for the next table to look up in; past the last after {@link #close}. */
  private synchronized int nextTable() {
    while (!closed && next == parts.length) {
      try {
        wait();
      } catch (InterruptedException e) {
        // Only close ends this thread.
      }
    }
    busy = !closed;
    return closed ? parts.length : next++;
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
