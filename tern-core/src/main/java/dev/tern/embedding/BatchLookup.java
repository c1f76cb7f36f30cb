package dev.tern.embedding;

import dev.tern.data.Batch;
import dev.tern.internal.runtime.Workers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks whole batches up in the tables of a model and applies their gradients, one batch after
 * another: slots side by side on the compute threads, each slot one thread's work, so that results
 * do not depend on their number. While a batch computes the next one may be looked up ahead, by a
 * thread of its own. Allocates nothing once it has seen the largest batch. One thread at a time.
 */
public final class BatchLookup implements AutoCloseable {
  private final List<EmbeddingTable> tables;
  private final Combiner combiner;
  private final List<Integer> widths;
  private final Lookup[] lookups;
  private final LookAhead ahead;

  /** Per slot, where its vectors go or its gradients come from. */
  private final RowParts[] parts;

  // Made once: a step makes no garbage.
  private final Workers.Task finding = (slot, worker) -> find(slot);
  private final Workers.Task applying = (slot, worker) -> apply(slot);

  // The batch at hand.
  private @Nullable Batch batch;

  /** Whether it was looked up ahead. */
  private boolean wasAhead;

  private boolean insert;
  private float lr;
  private long step;

  BatchLookup(SlotTables slots, List<Integer> widths) {
    tables = slots.tables();
    combiner = slots.combiner();
    this.widths = List.copyOf(widths);
    requireWidths();
    lookups = new Lookup[tables.size()];
    ahead = new LookAhead(tables);
    parts = new RowParts[lookups.length];
    for (int s = 0; s < lookups.length; s++) {
      lookups[s] = new Lookup();
      parts[s] = new RowParts(this.widths);
    }
  }

  private void requireWidths() {
    int sum = widths.stream().mapToInt(Integer::intValue).sum();
    boolean valid = widths.stream().allMatch(w -> w > 0);
    for (EmbeddingTable table : tables) {
      int width = table.config().width();
      if (!valid || sum != width) {
        throw new IllegalArgumentException(
            "table %s: got rows in parts of widths %s, expected 1 or more each and %d in all"
                .formatted(table.config().name(), widths, width));
      }
    }
  }

  /**
   * Writes the pooled row of each slot.
   *
   * @param insert whether ids without a row get one (training)
   * @param out per part, the address of {@code [B, S, D]} with {@code D} the part's width
   */
  @SuppressWarnings("exports")
  public void find(Workers workers, Batch batch, boolean insert, long[] out) {
    this.batch = batch;
    this.insert = insert;
    wasAhead = ahead.end(batch);
    place(out);
    workers.run(lookups.length, finding);
  }

  /**
   * Begins to look up the batch that {@link #find} is to be called with next, for as long as
   * nothing else is done here. It must stay as it is until then or {@link #forgetAhead}. What goes
   * wrong is thrown by that find.
   */
  public void lookAhead(Batch next) {
    ahead.begin(next);
  }

  /** Forgets what was looked up ahead; its batch is not read any more. */
  public void forgetAhead() {
    ahead.end();
  }

  private void place(long[] addresses) {
    for (int s = 0; s < parts.length; s++) {
      for (int p = 0; p < addresses.length; p++) {
        long width = widths.get(p);
        parts[s].set(p, addresses[p] + 4 * s * width, lookups.length * width);
      }
    }
  }

  private void find(int slot) {
    Batch rows = current();
    if (!wasAhead || !ahead.take(slot, lookups)) {
      lookups[slot].fill(rows.ids(slot), rows.idCount(slot));
    }
    int[] offsets = rows.offsets(slot);
    EmbeddingTable table = tables.get(slot);
    Lookup lookup = lookups[slot];
    table.findAndPool(lookup, insert, offsets, Bags.UNWEIGHTED, rows.size(), combiner, parts[slot]);
  }

  /**
   * Applies the gradients of what {@link #find} wrote last.
   *
   * @param gradients per part, the address of {@code [B, S, D]} with {@code D} the part's width
   * @param lr learning rate of this step
   * @param step the step, counted from 1
   */
  @SuppressWarnings("exports")
  public void apply(Workers workers, long[] gradients, float lr, long step) {
    // Else it would wait for the changes, and they for it.
    ahead.stop();
    place(gradients);
    this.lr = lr;
    this.step = step;
    workers.run(lookups.length, applying);
  }

  private void apply(int slot) {
    Batch rows = current();
    int[] offsets = rows.offsets(slot);
    EmbeddingTable table = tables.get(slot);
    Lookup lookup = lookups[slot];
    table.apply(lookup, offsets, Bags.UNWEIGHTED, rows.size(), combiner, parts[slot], lr, step);
  }

  private Batch current() {
    if (batch == null) {
      throw new IllegalStateException("lookup: got an update before a batch; find its rows first");
    }
    return batch;
  }

  /** Ends the thread that looks ahead. */
  @Override
  public void close() {
    ahead.close();
  }
}
