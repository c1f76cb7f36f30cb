package dev.tern.predict;

import dev.tern.base.Workers;
import dev.tern.data.Batch;
import dev.tern.data.encode.ColumnCounts;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Threads that share the rows of one call at a time. A row has the same score whoever computes it
 * and with whatever other rows.
 */
final class SharedCall implements AutoCloseable {
  /** Fewest multiply-adds of a thread for which waking it pays: some 20 microseconds. */
  private static final long WORTH_SHARING = 1_000_000;

  // Fewest rows of a thread: a tile of a product has 6; with 24, looking ids up takes as long.
  private static final int LEAST_ROWS = 6;
  private static final int MOST_ROWS = 24;

  private static final float[] NOTHING = {};

  private final Contexts contexts;
  private final Workers workers;
  private final int worthSharing;
  private final AtomicBoolean busy = new AtomicBoolean();
  private final Workers.Task task = (index, worker) -> piece(index);

  // The call at hand.
  private @Nullable Batch rows;
  private float[] target = NOTHING;
  private Optional<ColumnCounts> counts = Optional.empty();
  private boolean encoded;
  private int pieces;

  /**
   * @param weights dense weights of the model, about the multiply-adds of a row
   */
  SharedCall(Contexts contexts, int threads, long weights) {
    this.contexts = contexts;
    worthSharing = (int) Math.clamp(WORTH_SHARING / Math.max(1, weights), LEAST_ROWS, MOST_ROWS);
    workers = Workers.of(threads);
  }

  /**
   * Writes the logits of all rows; false where the caller should do it alone, as rows are few or
   * another call has the threads.
   *
   * @param isEncoded whether the rows are encoded already
   */
  boolean logits(Batch batch, float[] logits, Optional<ColumnCounts> unknown, boolean isEncoded) {
    int size = batch.size();
    int threads = Math.min(workers.threads(), size / worthSharing);
    if (threads < 2 || !busy.compareAndSet(false, true)) {
      return false;
    }
    try {
      rows = batch;
      target = logits;
      counts = unknown;
      encoded = isEncoded;
      // As many for each thread, and each small enough for one run of a model.
      int each = (size + threads - 1) / threads;
      pieces = threads * ((each + Context.MOST_ROWS - 1) / Context.MOST_ROWS);
      workers.run(pieces, task);
      return true;
    } finally {
      rows = null;
      counts = Optional.empty();
      target = NOTHING;
      busy.set(false);
    }
  }

  private void piece(int index) {
    Batch all = rows;
    if (all == null) {
      return;
    }
    int from = start(all.size(), index);
    int to = start(all.size(), index + 1);
    if (encoded) {
      contexts.encodedLogits(all, from, to, target);
    } else {
      contexts.logits(all, from, to, target, counts);
    }
  }

  private int start(int size, int index) {
    return (int) ((long) size * index / pieces);
  }

  @Override
  public void close() {
    workers.close();
  }
}
