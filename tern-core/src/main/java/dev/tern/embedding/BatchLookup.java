package dev.tern.embedding;

import dev.tern.base.Workers;
import dev.tern.data.Batch;
import dev.tern.internal.table.rows.ClickCounts;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowParts;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks batches up in the tables of a model and applies their gradients. Compute threads work side
 * by side, each on whole tables, so results do not depend on the number of threads. While one batch
 * is computed, another thread may look up the next. Allocates nothing once it has seen the largest
 * batch. For one thread at a time.
 */
public final class BatchLookup implements AutoCloseable {
  private final List<EmbeddingTable> tables;
  private final List<Integer> widths;
  private final SlotPlaces places;
  private final boolean pairs;
  final LookAhead ahead;

  /** Whether some table's policy needs to know which samples were clicked. */
  private final boolean weighsClicks;

  // Per table.
  private final TableBatch[] parts;
  private final PooledBags[] bags;

  /** Per part of rows, of pair sums and of sequences, where vectors or gradients of a call lie. */
  private final long[] addresses;

  /** The first of {@link #addresses} that is of a sequence. */
  private final int sequencesAt;

  /** Where the vectors of the last part lie, for gradients of pair sums. */
  private long pooled;

  /** Per table and slot of it, where its vectors go. */
  private final RowParts[][] targets;

  /** Per table, where the gradients of all its slots come from. */
  private final RowParts[] gradients;

  // Per table and slot of it, for gradients: see RowParts.interleave.
  private final int[][] gradientPlaces;
  private final int[][] gradientSteps;

  // Made once: a step makes no garbage.
  private final Workers.Task finding = (table, worker) -> find(table);
  private final Workers.Task applying = (table, worker) -> apply(table);

  // The arguments of the call at hand.
  private @Nullable Batch batch;
  private boolean wasAhead;
  private boolean insert;
  private float lr;
  private long step;

  BatchLookup(
      SlotTables slots, List<Integer> widths, boolean pairs, List<List<Integer>> sequences) {
    this.pairs = pairs;
    tables = slots.tables();
    places = new SlotPlaces(slots.slotCount(), sequences);
    this.widths = List.copyOf(widths);
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
    sequencesAt = widths.size() + (pairs ? 1 : 0);
    addresses = new long[sequencesAt + sequences.size()];
    ahead = new LookAhead(slots, places);
    weighsClicks = tables.stream().anyMatch(table -> table.config().rows().weighsClicks());
    parts = slots.newBatch(places);
    bags = new PooledBags[parts.length];
    Arrays.setAll(bags, t -> PooledBags.ofParts(slots.combiners(parts[t].slots)));
    targets = new RowParts[parts.length][];
    gradients = new RowParts[parts.length];
    gradientPlaces = new int[parts.length][];
    gradientSteps = new int[parts.length][];
    for (int t = 0; t < parts.length; t++) {
      gradientPlaces[t] = new int[parts[t].slots.length];
      gradientSteps[t] = new int[parts[t].slots.length];
      targets[t] = new RowParts[parts[t].slots.length];
      Arrays.setAll(targets[t], _ -> new RowParts(this.widths));
      gradients[t] = new RowParts(this.widths);
    }
  }

  /**
   * Writes the pooled row of each slot. In training, the first label of a row of the batch says
   * whether it was clicked, for tables whose row policy weighs clicks.
   *
   * @param insert whether ids without a row get one (training)
   * @param out per part, takes {@code [B, S, D]} floats of the pooled slots with {@code D} the
   *     part's width; then, in a lookup with pair sums, {@code [B, S]} floats for these; then, per
   *     sequence, {@code [n, columns * D]} floats for the rows of its {@code n} elements
   * @throws IllegalArgumentException if such a label is neither 0 nor 1; no table changed then
   */
  public void find(Workers workers, Batch batch, boolean insert, List<MemorySegment> out) {
    for (int p = 0; p < addresses.length; p++) {
      addresses[p] = NativeFloats.toWrite("lookup", out.get(p), floats(batch, p));
    }
    if (insert && weighsClicks) {
      requireLabels(batch);
    }
    pooled = addresses[widths.size() - 1];
    this.batch = batch;
    this.insert = insert;
    wasAhead = ahead.end(batch);
    requireEqualLengths(batch);
    for (int t = 0; t < parts.length; t++) {
      int[] slots = parts[t].slots;
      long first = 0;
      for (int k = 0; k < slots.length; k++) {
        // The bags of a table's slot follow the bags of the slots before it.
        int slot = slots[k];
        int every = places.every(slot);
        if (places.isPooled(slot)) {
          place(targets[t][k], places.place(slot) - first * every, every);
          first += batch.size();
        } else {
          long width = widths.getFirst();
          long at = addresses[sequencesAt + places.sequence(slot)];
          at += 4 * width * (places.place(slot) - first * every);
          targets[t][k].set(0, at, every * width);
          first += batch.idCount(slot);
        }
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

  /** Takes ids with their slots. */
  @FunctionalInterface
  public interface IdSink {
    void accept(int slot, long id);
  }

  /** Gives each id of the batch found last that has no row, as often as it stands there. */
  public void forEachUnknown(IdSink sink) {
    for (TableBatch part : parts) {
      if (part.lookup.complete) {
        continue;
      }
      for (int k = 0; k < part.slots.length; k++) {
        int to = part.offsets[part.firsts[k + 1]];
        for (int i = part.offsets[part.firsts[k]]; i < to; i++) {
          int u = part.lookup.inverse[i];
          int row = part.lookup.rows[u];
          if (row == RowLookup.NONE || row == RowLookup.BUCKET) {
            sink.accept(part.slots[k], part.lookup.ids[u]);
          }
        }
      }
    }
  }

  /**
   * Starts to look up the batch that the next call of {@link #find} will get. The batch must not
   * change until that call or {@link #forgetAhead}. That call throws what goes wrong meanwhile.
   */
  public void lookAhead(Batch next) {
    ahead.begin(next);
  }

  /** Forgets what was looked up ahead, and stops reading its batch. */
  public void forgetAhead() {
    ahead.end();
  }

  /** Floats of part {@code p} of the vectors of a batch, of its pair sums or of a sequence. */
  private long floats(Batch of, int p) {
    if (p >= sequencesAt) {
      List<Integer> members = places.sequences.get(p - sequencesAt);
      return (long) of.idCount(members.getFirst()) * members.size() * widths.getFirst();
    }
    return (long) of.size() * places.pooled * (p < widths.size() ? widths.get(p) : 1);
  }

  private void requireEqualLengths(Batch of) {
    for (int q = 0; q < places.sequences.size(); q++) {
      List<Integer> members = places.sequences.get(q);
      for (int m = 1; m < members.size(); m++) {
        if (of.firstUnequal(members.getFirst(), members.get(m), 0, of.size()) >= 0) {
          throw new IllegalArgumentException(
              "lookup: got different numbers of ids in slots %s of one sequence, expected the same in each row"
                  .formatted(members));
        }
      }
    }
  }

  /** Places bag {@code b} at vector {@code first + b * every} of {@code [B, S, D]}. */
  private void place(RowParts part, long first, long every) {
    int last = widths.size() - 1;
    for (int p = 0; p <= last; p++) {
      long width = widths.get(p);
      part.set(p, addresses[p] + 4 * first * width, every * width);
    }
    if (pairs) {
      long width = widths.get(last);
      part.setPairs(addresses[last + 1] + 4 * first, every);
      part.setPooled(pooled + 4 * first * width, every * width);
    }
  }

  private void find(int table) {
    Batch rows = current();
    boolean inserts = insert && !tables.get(table).config().isFrozen();
    if (!wasAhead || !ahead.take(table, parts)) {
      parts[table].take(rows);
      TableBatch taken = parts[table];
      tables.get(table).fill(taken.ids, taken.count(), taken.lookup, inserts);
    }
    TableBatch part = parts[table];
    if (inserts && tables.get(table).config().rows().weighsClicks()) {
      part.countClicks(rows);
    }
    tables.get(table).findAndPool(part.lookup, inserts, bags(table), part.firsts, targets[table]);
  }

  /**
   * Applies the gradients of what {@link #find} wrote last.
   *
   * <p>In a lookup with pair sums, what {@code find} wrote must still lie where it wrote it.
   *
   * @param gradients per part, {@code [B, S, D]} floats with {@code D} the part's width; then, in a
   *     lookup with pair sums, {@code [B, S]} floats for these; then, per sequence, {@code [n,
   *     columns * D]} floats, which lie a whole number of vectors of {@code D} floats behind those
   *     of the pooled slots
   * @param lr learning rate
   * @param step counted from 1
   */
  public void apply(Workers workers, List<MemorySegment> gradients, float lr, long step) {
    Batch of = current();
    for (int p = 0; p < addresses.length; p++) {
      addresses[p] = NativeFloats.toRead("lookup gradients", gradients.get(p), floats(of, p));
    }
    ahead.stop(); // Otherwise it and these changes would wait for each other.
    for (int t = 0; t < parts.length; t++) {
      int[] slots = parts[t].slots;
      for (int k = 0; k < slots.length; k++) {
        gradientPlaces[t][k] = gradientPlace(slots[k]);
        gradientSteps[t][k] = places.every(slots[k]);
      }
      if (slots.length == 1) {
        place(this.gradients[t], gradientPlaces[t][0], gradientSteps[t][0]);
      } else {
        place(this.gradients[t], 0, 1);
        this.gradients[t].interleave(parts[t].firsts, gradientPlaces[t], gradientSteps[t]);
      }
    }
    this.lr = lr;
    this.step = step;
    workers.run(parts.length, applying);
  }

  /** Vectors from the first gradient of the pooled slots to the first one of {@code slot}. */
  private int gradientPlace(int slot) {
    if (places.isPooled(slot)) {
      return places.place(slot);
    }
    long bytes = addresses[sequencesAt + places.sequence(slot)] - addresses[0];
    long width = 4L * widths.getFirst();
    if (bytes % width != 0 || Math.abs(bytes / width) > Integer.MAX_VALUE / 2) {
      throw new IllegalArgumentException(
          "lookup: got gradients of a sequence %d bytes behind the gradients of pooled slots, expected a multiple of the %d of a vector; let them lie in one tensor"
              .formatted(bytes, width));
    }
    return Math.toIntExact(bytes / width) + places.place(slot);
  }

  private void apply(int table) {
    TableBatch part = parts[table];
    if (tables.get(table).config().isFrozen()) {
      return;
    }
    tables.get(table).apply(part.lookup, bags(table), gradients[table], lr, step);
  }

  private PooledBags bags(int table) {
    TableBatch part = parts[table];
    return bags[table].set(part.offsets, part.weights, part.bags()).parts(part.firsts);
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
