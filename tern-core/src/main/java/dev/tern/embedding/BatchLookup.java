package dev.tern.embedding;

import dev.tern.base.Workers;
import dev.tern.data.Batch;
import dev.tern.internal.table.LayeredRows;
import dev.tern.internal.table.rows.LaneBags;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowParts;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Looks batches up in the tables of a model and applies their gradients. Compute threads work side
 * by side, each on whole tables, so results do not depend on the number of threads. While one batch
 * is computed, another thread may look up the next. Allocates nothing once it has seen the largest
 * batch. For one thread at a time.
 */
public final class BatchLookup implements AutoCloseable {
  private final List<EmbeddingTable> tables;
  private final SlotPlaces places;

  /** Widths of the parts of rows before the last, and how many there are. */
  private final List<Integer> front;

  private final int last;

  /** Whether the last parts of the tables' rows differ in width. */
  private final boolean mixed;

  private final boolean pairs;
  final LookAhead ahead;

  /** Whether some table's policy needs to know which samples were clicked. */
  private final boolean weighsClicks;

  /** Per table, how it is read beneath changes; empty where tables are read as they are. */
  private final List<LayeredRows> layered;

  /** The rows of all ranks, where the tables are those of several. */
  private final Optional<ShardedRows> sharded;

  // Per table.
  private final TableBatch[] parts;
  private final PooledBags[] bags;
  private final LaneBags[] lanes;

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

  // Per table and slot of it, for gradients: see RowParts.interleave. Where widths differ, the last
  // part has places of its own, which are floats.
  private final int[][] gradientPlaces;
  private final int[][] gradientSteps;
  private final int[][] lastPlaces;
  private final int[][] lastSteps;

  // Made once: a step makes no garbage.
  private final Workers.Task finding = (table, worker) -> find(table);
  private final Workers.Task applying = (table, worker) -> apply(table);
  private final Workers.Task findingLanes = (table, worker) -> findLanes(table);
  private final Workers.Task poolingLane = (table, worker) -> poolLane(table);
  private final Workers.Task taking = (table, worker) -> takeShared(table);
  private final Workers.Task placingLanes = (table, worker) -> placeLanes(table);
  private final Workers.Task pooling = (table, worker) -> pool(table);
  private final Workers.Task summing = (table, worker) -> sum(table);

  // The arguments of the call at hand.
  private @Nullable Batch batch;
  private boolean wasAhead;
  private boolean insert;

  /** Rows of a lane but the last, or 0 for a batch that is found whole. */
  private int laneRows;

  private int lane;
  private float lr;
  private long step;

  BatchLookup(SlotTables slots, List<Integer> front, boolean pairs, List<List<Integer>> sequences) {
    this.pairs = pairs;
    this.front = List.copyOf(front);
    last = front.size();
    tables = slots.tables();
    layered =
        IntStream.range(0, tables.size())
            .mapToObj(slots::layered)
            .flatMap(Optional::stream)
            .toList();
    sharded = slots.ranks().map(mesh -> new ShardedRows(mesh, tables));
    List<Integer> widths = lastWidths(tables, front, sequences);
    mixed = widths.stream().distinct().count() > 1;
    List<Integer> ofSlots =
        IntStream.range(0, slots.slotCount()).mapToObj(s -> widths.get(slots.table(s))).toList();
    places = new SlotPlaces(ofSlots, sequences);
    sequencesAt = last + (pairs ? 2 : 1);
    addresses = new long[sequencesAt + sequences.size()];
    ahead = new LookAhead(slots, places);
    weighsClicks = tables.stream().anyMatch(table -> table.config().rows().weighsClicks());
    parts = slots.newBatch(places);
    bags = new PooledBags[parts.length];
    Arrays.setAll(bags, t -> PooledBags.ofParts(slots.combiners(parts[t].slots)));
    lanes = new LaneBags[parts.length];
    Arrays.setAll(lanes, t -> new LaneBags(parts[t].slots.length));
    targets = new RowParts[parts.length][];
    gradients = new RowParts[parts.length];
    gradientPlaces = perSlot();
    gradientSteps = perSlot();
    lastPlaces = perSlot();
    lastSteps = perSlot();
    for (int t = 0; t < parts.length; t++) {
      List<Integer> ofRow = Stream.concat(front.stream(), Stream.of(widths.get(t))).toList();
      targets[t] = new RowParts[parts[t].slots.length];
      Arrays.setAll(targets[t], _ -> new RowParts(ofRow));
      gradients[t] = new RowParts(ofRow);
    }
  }

  /** For each table the width of the last part of its rows. */
  private static List<Integer> lastWidths(
      List<EmbeddingTable> tables, List<Integer> front, List<List<Integer>> sequences) {
    int before = front.stream().mapToInt(Integer::intValue).sum();
    boolean valid = front.stream().allMatch(width -> width > 0);
    if (!sequences.isEmpty() && !front.isEmpty()) {
      throw new IllegalArgumentException(
          "lookup: got rows with parts of widths %s in front and sequences, expected rows of one part"
              .formatted(front));
    }
    for (EmbeddingTable table : tables) {
      int width = table.config().width();
      if (!valid || before >= width) {
        throw new IllegalArgumentException(
            "table %s: got rows with parts of widths %s in front, expected 1 or more each and fewer than %d in all"
                .formatted(table.config().name(), front, width));
      }
    }
    return tables.stream().map(table -> table.config().width() - before).toList();
  }

  private int[][] perSlot() {
    return Arrays.stream(parts).map(part -> new int[part.slots.length]).toArray(int[][]::new);
  }

  /**
   * Writes the pooled row of each slot. In training, the first label of a row of the batch says
   * whether it was clicked, for tables whose row policy weighs clicks.
   *
   * @param insert whether ids without a row get one (training)
   * @param out per part, takes {@code [B, S, D]} floats of the pooled slots with {@code D} the
   *     part's width; then, in a lookup with pair sums, {@code [B, S]} floats for these; then, per
   *     sequence, {@code [n, columns * D]} floats for the rows of its {@code n} elements. Where
   *     last parts differ in width, that of slots takes {@code [B, sum of widths]} floats, and a
   *     sequence {@code [n, sum of widths]}
   * @throws IllegalArgumentException if such a label is neither 0 nor 1; no table changed then
   */
  public void find(Workers workers, Batch batch, boolean insert, List<MemorySegment> out) {
    writeTo(out, batch, 0, batch.size());
    begin(batch, insert, 0);
    for (int t = 0; t < parts.length; t++) {
      int[] slots = parts[t].slots;
      long first = 0;
      for (int k = 0; k < slots.length; k++) {
        // The bags of a table's slot follow the bags of the slots before it.
        place(targets[t][k], slots[k], first);
        first += places.isPooled(slots[k]) ? batch.size() : batch.idCount(slots[k]);
      }
    }
    if (sharded.isPresent()) {
      workers.run(parts.length, taking);
      sharded.get().fetch(workers, parts, insert);
      workers.run(parts.length, pooling);
    } else {
      workers.run(parts.length, finding);
    }
  }

  /** Takes the places of the vectors of rows {@code [from, to)}. */
  private void writeTo(List<MemorySegment> out, Batch of, int from, int to) {
    for (int p = 0; p < addresses.length; p++) {
      addresses[p] = NativeFloats.toWrite("lookup", out.get(p), floats(of, from, to, p));
    }
    pooled = addresses[last];
  }

  private void begin(Batch of, boolean inserts, int rowsOfLane) {
    if (inserts) {
      requireTrainable();
    }
    if (inserts && weighsClicks) {
      BatchChecks.requireLabels(of);
    }
    batch = of;
    insert = inserts;
    laneRows = rowsOfLane;
    wasAhead = ahead.end(of);
    BatchChecks.requireEqualLengths(of, places.sequences);
  }

  /**
   * Finds the rows of a batch to be trained on lane by lane, without reading them: ids are met once
   * a batch. {@link #poolLane} reads the rows of a lane, {@link #applyLanes} takes the gradients of
   * all. Lane {@code k} has the {@code laneRows} rows from row {@code k * laneRows} on; the last
   * may have fewer.
   *
   * @param batch stays as it is until {@code applyLanes} is done
   * @throws IllegalArgumentException as {@link #find}
   */
  public void findLanes(Workers workers, Batch batch, int laneRows) {
    if (laneRows < 1) {
      throw new IllegalArgumentException(
          "lookup: got lanes of %d rows, expected 1 or more".formatted(laneRows));
    }
    begin(batch, true, laneRows);
    if (sharded.isPresent()) {
      workers.run(parts.length, taking);
      sharded.get().fetch(workers, parts, true);
      workers.run(parts.length, placingLanes);
    } else {
      workers.run(parts.length, findingLanes);
    }
  }

  /**
   * Writes what {@link #find} would write of the rows of a lane.
   *
   * @param out as in {@link #find}, for the rows of the lane
   */
  public void poolLane(Workers workers, int lane, List<MemorySegment> out) {
    Batch rows = current();
    int from = Math.min(rows.size(), requireLanes() * lane);
    writeTo(out, rows, from, Math.min(rows.size(), from + laneRows));
    this.lane = lane;
    for (int t = 0; t < parts.length; t++) {
      for (int k = 0; k < parts[t].slots.length; k++) {
        place(targets[t][k], parts[t].slots[k], lanes[t].first(lane, k));
      }
    }
    workers.run(parts.length, poolingLane);
  }

  private int requireLanes() {
    if (laneRows == 0) {
      throw new IllegalStateException(
          "lookup: got a call for lanes of a batch that was found whole; call findLanes first");
    }
    return laneRows;
  }

  private void requireTrainable() {
    if (!layered.isEmpty()) {
      throw new IllegalStateException(
          "lookup: got training of tables that are read beneath changes, expected scoring; train"
              + " the tables themselves");
    }
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
    if (sharded.isEmpty()) {
      ahead.begin(next);
    }
  }

  /** Forgets what was looked up ahead, and stops reading its batch. */
  public void forgetAhead() {
    ahead.end();
  }

  /** Floats of part {@code p} of the vectors of a batch, of its pair sums or of a sequence. */
  private long floats(Batch of, int p) {
    return floats(of, 0, of.size(), p);
  }

  /** The same for rows {@code [from, to)}. */
  private long floats(Batch of, int from, int to, int p) {
    if (p >= sequencesAt) {
      int q = p - sequencesAt;
      int[] offsets = of.offsets(places.sequences.get(q).getFirst());
      return (long) (offsets[to] - offsets[from]) * places.elementFloats(q);
    }
    long row = p == last ? places.pooledFloats : places.pooled * (p < last ? front.get(p) : 1L);
    return (to - from) * row;
  }

  /** Places the bags of a slot, of which the first is bag {@code first} of its table. */
  private void place(RowParts part, int slot, long first) {
    long every = places.every(slot);
    long at = places.place(slot) - first * every;
    for (int p = 0; p < last; p++) {
      long width = front.get(p);
      part.set(p, addresses[p] + 4 * at * width, every * width);
    }
    long stride = places.everyFloats(slot);
    long floats = places.offset(slot) - first * stride;
    part.set(last, vectors(slot) + 4 * floats, stride);
    if (pairs) {
      part.setPairs(addresses[last + 1] + 4 * at, every);
      part.setPooled(pooled + 4 * floats, stride);
    }
  }

  /** Where the last parts of the rows of pooled slots lie, or of the slots of a sequence. */
  private long vectors(int slot) {
    return addresses[places.isPooled(slot) ? last : sequencesAt + places.sequence(slot)];
  }

  private void find(int table) {
    boolean inserts = take(table);
    TableBatch part = parts[table];
    if (layered.isEmpty()) {
      tables.get(table).findAndPool(part.lookup, inserts, bags(table), part.firsts, targets[table]);
    } else {
      tables
          .get(table)
          .findAndPool(layered.get(table), part.lookup, bags(table), part.firsts, targets[table]);
    }
  }

  /** Takes the ids of the batch for a table; returns whether ids without a row get one. */
  private boolean take(int table) {
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
    return inserts;
  }

  /** Takes the ids of the batch for a table, whose rows other ranks may have. */
  private void takeShared(int table) {
    parts[table].take(current());
    parts[table].lookup.fill(parts[table].ids, parts[table].count());
  }

  /** Pools all bags of a table whose rows came from all ranks. */
  private void pool(int table) {
    TableBatch part = parts[table];
    PooledBags all = bags(table);
    for (int k = 0; k < targets[table].length; k++) {
      pool(table, all, part.firsts[k], part.firsts[k + 1], targets[table][k]);
    }
  }

  private void pool(int table, PooledBags all, int from, int to, RowParts out) {
    if (sharded.isPresent()) {
      sharded.get().pool(table, all, from, to, out);
    } else {
      tables.get(table).pool(parts[table].lookup, all, from, to, out);
    }
  }

  private void findLanes(int table) {
    boolean inserts = take(table);
    tables.get(table).find(parts[table].lookup, inserts);
    placeLanes(table);
  }

  private void placeLanes(int table) {
    Batch rows = current();
    TableBatch part = parts[table];
    int count = Math.ceilDiv(rows.size(), laneRows);
    lanes[table].begin(count);
    for (int k = 0; k < part.slots.length; k++) {
      boolean pools = places.isPooled(part.slots[k]);
      for (int i = 0; i <= count; i++) {
        int row = (int) Math.min(rows.size(), (long) i * laneRows);
        int bag = pools ? row : rows.offsets(part.slots[k])[row];
        lanes[table].set(i, k, part.firsts[k] + bag);
      }
    }
  }

  private void poolLane(int table) {
    LaneBags of = lanes[table];
    PooledBags all = bags(table);
    for (int k = 0; k < targets[table].length; k++) {
      pool(table, all, of.first(lane, k), of.first(lane + 1, k), targets[table][k]);
    }
  }

  /**
   * Applies the gradients of what {@link #find} wrote last.
   *
   * <p>In a lookup with pair sums, what {@code find} wrote must still lie where it wrote it.
   *
   * @param gradients per part, {@code [B, S, D]} floats with {@code D} the part's width; then, in a
   *     lookup with pair sums, {@code [B, S]} floats for these; then, per sequence, {@code [n,
   *     columns * D]} floats, which lie a whole number of vectors of {@code D} floats behind those
   *     of the pooled slots. Where last parts differ in width, they lie as {@link #find} says
   * @param lr learning rate of tables without an optimizer of their own; that of others is in
   *     proportion: {@link dev.tern.embedding.config.TableOptions#rateRatio}
   * @param step counted from 1
   */
  public void apply(Workers workers, List<MemorySegment> gradients, float lr, long step) {
    if (laneRows > 0) {
      throw new IllegalStateException(
          "lookup: got apply of a batch that was found in lanes, expected applyLanes");
    }
    applyAll(workers, gradients, lr, step);
  }

  /**
   * Applies the gradients of all lanes that {@link #findLanes} found. For each id the gradients of
   * each lane are added up, then the sums of lanes as a balanced binary tree over all lanes, in
   * which those without the id are left out.
   *
   * @param gradients as in {@link #apply}, the rows of all lanes one after another
   * @param vectors in a lookup with pair sums, what {@link #poolLane} wrote of the last part, the
   *     rows of all lanes one after another; else none
   */
  public void applyLanes(
      Workers workers,
      List<MemorySegment> gradients,
      Optional<MemorySegment> vectors,
      float lr,
      long step) {
    requireLanes();
    if (pairs) {
      pooled =
          NativeFloats.toRead("lookup vectors", vectors.orElseThrow(), floats(current(), last));
    }
    applyAll(workers, gradients, lr, step);
  }

  private void applyAll(Workers workers, List<MemorySegment> gradients, float lr, long step) {
    requireTrainable();
    Batch of = current();
    for (int p = 0; p < addresses.length; p++) {
      addresses[p] = NativeFloats.toRead("lookup gradients", gradients.get(p), floats(of, p));
    }
    ahead.stop(); // Otherwise it and these changes would wait for each other.
    for (int t = 0; t < parts.length; t++) {
      if (parts[t].slots.length == 1) {
        place(this.gradients[t], parts[t].slots[0], 0);
      } else {
        interleave(t);
      }
    }
    this.lr = lr;
    this.step = step;
    if (sharded.isPresent()) {
      sharded.get().beginGradients();
      workers.run(parts.length, summing);
      sharded.get().exchangeGradients();
    }
    workers.run(parts.length, applying);
  }

  private void sum(int table) {
    sharded.orElseThrow().sum(table, bags(table), gradients[table]);
  }

  /** Places the gradients of a table with several slots. */
  private void interleave(int table) {
    RowParts part = gradients[table];
    int[] slots = parts[table].slots;
    // Vectors of one width are counted as such, so that all parts have the same places.
    int unit = mixed ? 1 : tables.get(table).config().width() - sum(front);
    for (int k = 0; k < slots.length; k++) {
      gradientPlaces[table][k] = places.place(slots[k]);
      gradientSteps[table][k] = places.every(slots[k]);
      lastPlaces[table][k] = lastPlace(slots[k], unit);
      lastSteps[table][k] = places.everyFloats(slots[k]) / unit;
    }
    for (int p = 0; p < last; p++) {
      part.set(p, addresses[p], front.get(p));
    }
    part.set(last, addresses[last], unit);
    if (pairs) {
      part.setPairs(addresses[last + 1], 1);
      part.setPooled(pooled, unit);
    }
    part.interleave(parts[table].firsts, lastPlaces[table], lastSteps[table]);
    if (mixed && last > 0) {
      part.interleaveFront(gradientPlaces[table], gradientSteps[table]);
    }
  }

  private static int sum(List<Integer> widths) {
    int sum = 0;
    for (int i = 0; i < widths.size(); i++) {
      sum += widths.get(i);
    }
    return sum;
  }

  /** Units of floats from the first gradient of the pooled slots to the first of {@code slot}. */
  private int lastPlace(int slot, int unit) {
    long floats = places.offset(slot);
    if (!places.isPooled(slot)) {
      long bytes = vectors(slot) - addresses[last];
      if (bytes % (4L * unit) != 0) {
        throw new IllegalArgumentException(
            "lookup: got gradients of a sequence %d bytes behind the gradients of pooled slots, expected a multiple of the %d of a vector; let them lie in one tensor"
                .formatted(bytes, 4L * unit));
      }
      floats += bytes / 4;
    }
    long all = current().size() * (long) places.pooledFloats;
    for (int q = 0; q < places.sequences.size(); q++) {
      all += floats(current(), sequencesAt + q);
    }
    if (Math.abs(floats) / unit + all / unit > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "lookup: got gradients that lie %d floats apart, with %d in all, expected fewer than 2^31 vectors or floats; let them lie in one tensor, and take fewer rows at once"
              .formatted(floats, all));
    }
    return Math.toIntExact(floats / unit);
  }

  private void apply(int table) {
    TableBatch part = parts[table];
    if (tables.get(table).config().isFrozen()) {
      return;
    }
    float ratio = tables.get(table).config().rateRatio();
    float rate = ratio == 1 ? lr : lr * ratio;
    if (sharded.isPresent()) {
      sharded.get().apply(table, rate, step);
    } else {
      tables.get(table).apply(part.lookup, bags(table), gradients[table], rate, step);
    }
  }

  private PooledBags bags(int table) {
    TableBatch part = parts[table];
    PooledBags all = bags[table].set(part.offsets, part.weights, part.bags()).parts(part.firsts);
    return laneRows > 0 ? all.inLanes(lanes[table]) : all.inOneLane();
  }

  private Batch current() {
    if (batch == null) {
      throw new IllegalStateException("lookup: got an update before a batch; find its rows first");
    }
    return batch;
  }

  /** Ends the thread that looks ahead, and frees the memory of messages with other ranks. */
  @Override
  public void close() {
    ahead.close();
    sharded.ifPresent(ShardedRows::close);
  }
}
