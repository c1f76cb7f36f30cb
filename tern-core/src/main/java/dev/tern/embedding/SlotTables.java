package dev.tern.embedding;

import dev.tern.data.Batch;
import dev.tern.internal.runtime.Workers;
import java.util.List;

/**
 * The tables of a model, one for each slot and all of one width {@code W}: looks a whole batch up
 * and applies its gradients, slots side by side on the compute threads. Each slot is one thread's
 * work, so results do not depend on their number.
 */
public final class SlotTables implements AutoCloseable {
  private final List<EmbeddingTable> tables;
  private final Combiner combiner;
  private final int width;

  /** Takes over {@code tables}, table {@code s} for slot {@code s}. */
  public SlotTables(List<EmbeddingTable> tables, Combiner combiner) {
    this.tables = List.copyOf(tables);
    this.combiner = combiner;
    width = tables.isEmpty() ? 0 : tables.get(0).config().width();
  }

  public List<EmbeddingTable> tables() {
    return tables;
  }

  public Combiner combiner() {
    return combiner;
  }

  /** Bytes held by all tables. */
  public long bytes() {
    return tables.stream().mapToLong(EmbeddingTable::bytes).sum();
  }

  /** Rows of all tables. */
  public long rows() {
    return tables.stream().mapToLong(EmbeddingTable::size).sum();
  }

  /** Room for what a batch looks up; use it for one batch after another. */
  public Lookup[] newLookups() {
    Lookup[] lookups = new Lookup[tables.size()];
    for (int s = 0; s < lookups.length; s++) {
      lookups[s] = new Lookup();
    }
    return lookups;
  }

  /**
   * Writes the pooled row of each slot to {@code out}, {@code [B, S, W]}.
   *
   * @param insert whether ids without a row get one (training)
   */
  @SuppressWarnings("exports")
  public void lookup(Workers workers, Batch batch, Lookup[] lookups, boolean insert, long out) {
    if (workers.threads() == 1) {
      // Without a task object: scoring single rows makes no garbage.
      for (int slot = 0; slot < lookups.length; slot++) {
        lookupSlot(slot, batch, lookups[slot], insert, out);
      }
      return;
    }
    workers.run(
        tables.size(), (slot, worker) -> lookupSlot(slot, batch, lookups[slot], insert, out));
  }

  private void lookupSlot(int slot, Batch batch, Lookup lookup, boolean insert, long out) {
    EmbeddingTable table = tables.get(slot);
    table.find(batch.ids(slot), batch.idCount(slot), lookup, insert);
    long stride = (long) tables.size() * width;
    long first = out + 4L * slot * width;
    table.pool(lookup, batch.offsets(slot), 0, batch.size(), combiner, first, stride);
  }

  /**
   * Applies the gradients of what {@link #lookup} wrote.
   *
   * @param gradient address of {@code [B, S, W]}
   * @param lr learning rate of this step
   * @param step the step, counted from 1
   */
  @SuppressWarnings("exports")
  public void apply(
      Workers workers, Batch batch, Lookup[] lookups, long gradient, float lr, long step) {
    long stride = (long) tables.size() * width;
    workers.run(
        tables.size(),
        (slot, worker) ->
            tables
                .get(slot)
                .apply(
                    lookups[slot],
                    batch.offsets(slot),
                    batch.size(),
                    combiner,
                    gradient + 4L * slot * width,
                    stride,
                    lr,
                    step));
  }

  @Override
  public void close() {
    tables.forEach(EmbeddingTable::close);
  }
}
