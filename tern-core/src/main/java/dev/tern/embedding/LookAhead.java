package dev.tern.embedding;

import dev.tern.data.Batch;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread that looks the next batch up ahead, a slot at a time, until it is to stop; who stops it
 * waits for the slot under way alone, and looks up the others itself. Nothing of this shows in
 * results: it only reads tables.
 */
final class LookAhead implements AutoCloseable {
  private final List<EmbeddingTable> tables;

  /** Per slot: takes what is looked up; belongs to the thread while {@link #busy}. */
  private final Lookup[] lookups;

  /** Per slot: whether it was looked up, and what went wrong. */
  private final boolean[] done;

  private final @Nullable Throwable[] failures;

  // Guarded by this.
  private @Nullable Batch batch;
  private int next;
  private boolean busy;
  private boolean started;
  private boolean closed;

  /** Whether the thread need not hurry. */
  private volatile boolean going;

  private final BooleanSupplier goOn = () -> going;

  LookAhead(List<EmbeddingTable> tables) {
    this.tables = tables;
    lookups = new Lookup[tables.size()];
    Arrays.setAll(lookups, _ -> new Lookup());
    done = new boolean[lookups.length];
    failures = new @Nullable Throwable[lookups.length];
    next = lookups.length;
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

  /** Whether all slots were looked up. For tests. */
  synchronized boolean isDone() {
    return next == lookups.length && !busy;
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

  /** Has the thread stop: the batch and the tables are not read any more. */
  synchronized void stop() {
    next = lookups.length;
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
   * After {@link #end}: puts what was looked up of a slot in the place of another lookup.
   *
   * @return whether the slot was looked up
   */
  boolean take(int slot, Lookup[] into) {
    if (!done[slot]) {
      return false;
    }
    Throwable failure = failures[slot];
    switch (failure) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(failure);
    }
    Lookup before = into[slot];
    into[slot] = lookups[slot];
    lookups[slot] = before;
    return true;
  }

  private void work() {
    for (int slot = nextSlot(); slot < lookups.length; slot = nextSlot()) {
      Throwable failure = null;
      try {
        lookUp(Objects.requireNonNull(batch), slot);
      } catch (Throwable e) {
        failure = e;
      }
      finish(slot, failure);
    }
  }

  /** The next slot to look up, once there is one; past the last after close. */
  private synchronized int nextSlot() {
    while (!closed && next == lookups.length) {
      try {
        wait();
      } catch (InterruptedException e) {
        // It ends by close alone.
      }
    }
    busy = !closed;
    return closed ? lookups.length : next++;
  }

  /** While busy: the batch stays. */
  private void lookUp(Batch rows, int slot) {
    tables.get(slot).lookAhead(rows.ids(slot), rows.idCount(slot), lookups[slot], goOn);
  }

  private synchronized void finish(int slot, @Nullable Throwable failure) {
    failures[slot] = failure;
    done[slot] = true;
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
