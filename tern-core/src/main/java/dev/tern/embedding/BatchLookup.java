package dev.tern.embedding;

import dev.tern.base.Workers;
import dev.tern.data.Batch;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.internal.table.rows.ClickCounts;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowParts;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks whole batches up in the tables of a model and applies their gradients, one batch after
 * another: tables side by side on the compute threads, each table one thread's work, so that
 * results do not depend on their number. While a batch computes the next one may be looked up
 * ahead, by a thread of its own. Allocates nothing once it has seen the largest batch. One thread
 * at a time.
 */
public final class BatchLookup implements AutoCloseable {
  private final List<EmbeddingTable> tables;
  private final List<Integer> widths;
  private final int slotCount;
  private final LookAhead ahead;

  /** Whether what a table does depends on labels. */
  private final boolean weighsClicks;

  /** Per table. */
  private final TableBatch[] parts;

  /** Per table. */
  private final PooledBags[] bags;

  /** Per table and slot of it, where its vectors go. */
  private final RowParts[][] targets;

  /** Per table, where the gradients of all its slots come from. */
  private final RowParts[] gradients;

  // Made once: a step makes no garbage.
  private final Workers.Task finding = (table, worker) -> find(table);
  private final Workers.Task applying = (table, worker) -> apply(table);

  // The batch at hand.
  private @Nullable Batch batch;

  /** Whether it was looked up ahead. */
  private boolean wasAhead;

  private boolean insert;
  private float lr;
  private long step;

  BatchLookup(SlotTables slots, List<Integer> widths) {
    tables = slots.tables();
    slotCount = slots.slotCount();
    this.widths = List.copyOf(widths);
    requireWidths();
    ahead = new LookAhead(slots);
    weighsClicks = tables.stream().anyMatch(table -> table.config().rows().weighsClicks());
    parts = slots.newBatch();
    bags = new PooledBags[parts.length];
    Arrays.setAll(bags, _ -> new PooledBags(slots.combiner()));
    targets = new RowParts[parts.length][];
    gradients = new RowParts[parts.length];
    for (int t = 0; t < parts.length; t++) {
      targets[t] = new RowParts[parts[t].slots().length];
      Arrays.setAll(targets[t], _ -> new RowParts(this.widths));
      gradients[t] = new RowParts(this.widths);
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
   * Writes the pooled row of each slot. In training the first label of a row of the batch says
   * whether it was clicked, where tables {@link RowPolicy#weighsClicks ask for that}.
   *
   * @param insert whether ids without a row get one (training)
   * @param out per part, the address of {@code [B, S, D]} with {@code D} the part's width
   * @throws IllegalArgumentException if such a label is neither 0 nor 1; no table changed then
   */
  @SuppressWarnings("exports")
  public void find(Workers workers, Batch batch, boolean insert, long[] out) {
    if (insert && weighsClicks) {
      requireLabels(batch);
    }
    this.batch = batch;
    this.insert = insert;
    wasAhead = ahead.end(batch);
    for (int t = 0; t < parts.length; t++) {
      int[] slots = parts[t].slots();
      for (int k = 0; k < slots.length; k++) {
        // The bags of a table's slot follow those of the slots before it.
        place(targets[t][k], out, slots[k] - (long) k * batch.size() * slotCount, slotCount);
      }
    }
    workers.run(parts.length, finding);
  }

  private static void requireLabels(Batch batch) {
    int labels = batch.schema().labelDim();
    if (labels == 0) {
      throw new IllegalArgumentException(
          "lookup: got a batch without labels, expected one for each sample, as rows depend on"
              + " clicks; name the label's column");
    }
    ClickCounts.requireLabels(batch.labels(), batch.size(), labels);
  }

  /**
   * Begins to look up the batch that {@link #find} is to be called with next, for as long as
   * nothing else is done here. It must stay as it is until then or {@link #forgetAhead}. What goes
   * wrong is thrown by that find.
   */
  public void lookAhead(Batch next) {
    ahead.begin(next);
  }

  /** Who looks ahead. For tests. */
  LookAhead ahead() {
    return ahead;
  }

  /** Forgets what was looked up ahead; its batch is not read any more. */
  public void forgetAhead() {
    ahead.end();
  }

  /** Has bag 0 lie as vector {@code first} of {@code [B, S, D]}, each bag {@code every} on. */
  private void place(RowParts part, long[] addresses, long first, long every) {
    for (int p = 0; p < addresses.length; p++) {
      long width = widths.get(p);
      part.set(p, addresses[p] + 4 * first * width, every * width);
    }
  }

  private void find(int table) {
    Batch rows = current();
    if (!wasAhead || !ahead.take(table, parts)) {
      parts[table].take(rows);
      parts[table].lookup().fill(parts[table].ids(), parts[table].count());
    }
    TableBatch part = parts[table];
    if (insert && tables.get(table).config().rows().weighsClicks()) {
      // Now, as they are of this batch whether or not it was looked up ahead.
      part.countClicks(rows);
    }
    tables.get(table).findAndPool(part.lookup(), insert, bags(table), targets[table]);
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
    for (int t = 0; t < parts.length; t++) {
      int[] slots = parts[t].slots();
      if (slots.length == 1) {
        place(this.gradients[t], gradients, slots[0], slotCount);
      } else {
        place(this.gradients[t], gradients, 0, 1);
        this.gradients[t].interleave(slots, parts[t].rows(), slotCount);
      }
    }
    this.lr = lr;
    this.step = step;
    workers.run(parts.length, applying);
  }

  private void apply(int table) {
    current();
    TableBatch part = parts[table];
    tables.get(table).apply(part.lookup(), bags(table), gradients[table], lr, step);
  }

  private PooledBags bags(int table) {
    TableBatch part = parts[table];
    return bags[table].set(part.offsets(), PooledBags.UNWEIGHTED, part.bags());
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
