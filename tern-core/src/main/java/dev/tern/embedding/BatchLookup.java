package dev.tern.embedding;

import dev.tern.data.Batch;
import dev.tern.internal.runtime.Workers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks whole batches up in the tables of a model and applies their gradients, one batch after
 * another: slots side by side on the compute threads, each slot one thread's work, so that results
 * do not depend on their number. Allocates nothing once it has seen the largest batch. One thread
 * at a time.
 */
public final class BatchLookup {
  private final List<EmbeddingTable> tables;
  private final Combiner combiner;
  private final int width;
  private final Lookup[] lookups;

  // Made once: a step makes no garbage.
  private final Workers.Task finding = (slot, worker) -> find(slot);
  private final Workers.Task applying = (slot, worker) -> apply(slot);

  // The batch at hand.
  private @Nullable Batch batch;
  private boolean insert;
  private long out;
  private long gradient;
  private float lr;
  private long step;

  BatchLookup(SlotTables slots) {
    tables = slots.tables();
    combiner = slots.combiner();
    width = tables.isEmpty() ? 0 : tables.get(0).config().width();
    lookups = new Lookup[tables.size()];
    for (int s = 0; s < lookups.length; s++) {
      lookups[s] = new Lookup();
    }
  }

  /**
   * Writes the pooled row of each slot to {@code out}, {@code [B, S, W]}.
   *
   * @param insert whether ids without a row get one (training)
   */
  @SuppressWarnings("exports")
  public void find(Workers workers, Batch batch, boolean insert, long out) {
    this.batch = batch;
    this.insert = insert;
    this.out = out;
    workers.run(lookups.length, finding);
  }

  private void find(int slot) {
    Batch rows = current();
    EmbeddingTable table = tables.get(slot);
    table.find(rows.ids(slot), rows.idCount(slot), lookups[slot], insert);
    long stride = (long) lookups.length * width;
    long first = out + 4L * slot * width;
    table.pool(lookups[slot], rows.offsets(slot), 0, rows.size(), combiner, first, stride);
  }

  /**
   * Applies the gradients of what {@link #find} wrote last.
   *
   * @param gradient address of {@code [B, S, W]}
   * @param lr learning rate of this step
   * @param step the step, counted from 1
   */
  @SuppressWarnings("exports")
  public void apply(Workers workers, long gradient, float lr, long step) {
    this.gradient = gradient;
    this.lr = lr;
    this.step = step;
    workers.run(lookups.length, applying);
  }

  private void apply(int slot) {
    Batch rows = current();
    long stride = (long) lookups.length * width;
    long first = gradient + 4L * slot * width;
    tables
        .get(slot)
        .apply(lookups[slot], rows.offsets(slot), rows.size(), combiner, first, stride, lr, step);
  }

  private Batch current() {
    if (batch == null) {
      throw new IllegalStateException("lookup: got an update before a batch; find its rows first");
    }
    return batch;
  }
}
