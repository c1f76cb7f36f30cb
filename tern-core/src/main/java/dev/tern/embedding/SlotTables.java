package dev.tern.embedding;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.exchange.Mesh;
import dev.tern.internal.table.LayeredRows;
import dev.tern.internal.table.RowLayer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** The tables of a model. Each slot has a table; several slots may share one. */
public final class SlotTables implements AutoCloseable {
  private final List<EmbeddingTable> tables;
  private final List<Integer> ofSlots;
  private final List<Combiner> combiners;

  /** Per table, how it is read beneath changes; empty where tables are read as they are. */
  private final List<LayeredRows> layered;

  /** The ranks that hold the tables together; empty where all rows are here. */
  private Optional<Mesh> ranks = Optional.empty();

  /** Takes over {@code tables}, table {@code s} for slot {@code s}; all slots have one combiner. */
  public SlotTables(List<EmbeddingTable> tables, Combiner combiner) {
    this(
        tables,
        IntStream.range(0, tables.size()).boxed().toList(),
        Collections.nCopies(tables.size(), combiner));
  }

  /** Takes over {@code tables}; all slots have one combiner. */
  public SlotTables(List<EmbeddingTable> tables, List<Integer> ofSlots, Combiner combiner) {
    this(tables, ofSlots, Collections.nCopies(ofSlots.size(), combiner));
  }

  /**
   * Takes over {@code tables}.
   *
   * @param ofSlots for each slot the number of its table, each of which some slot has
   * @param combiners for each slot how several of its ids become one vector
   */
  public SlotTables(List<EmbeddingTable> tables, List<Integer> ofSlots, List<Combiner> combiners) {
    this.tables = List.copyOf(tables);
    this.ofSlots = List.copyOf(ofSlots);
    this.combiners = List.copyOf(combiners);
    layered = List.of();
    if (combiners.size() != ofSlots.size()) {
      throw new IllegalArgumentException(
          "tables: got %d combiners for %d slots, expected one for each"
              .formatted(combiners.size(), ofSlots.size()));
    }
    if (ofSlots.stream().distinct().count() != tables.size()
        || ofSlots.stream().anyMatch(table -> table < 0 || table >= tables.size())) {
      throw new IllegalArgumentException(
          "tables: got tables %s of slots, expected each of 0 to %d"
              .formatted(ofSlots, tables.size() - 1));
    }
  }

  private SlotTables(SlotTables of, List<LayeredRows> layered) {
    tables = of.tables;
    ofSlots = of.ofSlots;
    combiners = of.combiners;
    this.layered = layered;
  }

  /**
   * These tables as they are with changes, for scoring alone; the tables stay as they are. Several
   * of it, with other changes, may be read at once. Closing it does nothing.
   *
   * <p>The tables may {@link EmbeddingTable#fold take in} changes that are the first of all such
   * that are read; then {@link #drop} them.
   *
   * @param changes for each table, one after another as they happened
   */
  public SlotTables beneath(List<List<TableChanges>> changes) {
    List<LayeredRows> views = new ArrayList<>();
    for (int t = 0; t < tables.size(); t++) {
      EmbeddingTable table = tables.get(t);
      views.add(new LayeredRows(table.rows, table.lock, layers(changes.get(t))));
    }
    return new SlotTables(this, List.copyOf(views));
  }

  private static List<RowLayer> layers(List<TableChanges> changes) {
    return changes.stream().map(change -> change.layer).toList();
  }

  /** Reads beneath other changes from now on. No thread may read it during the call. */
  public void set(List<List<TableChanges>> changes) {
    for (int t = 0; t < layered.size(); t++) {
      layered.get(t).set(layers(changes.get(t)));
    }
  }

  /** No longer reads changes of a table that it took in; returns when no thread reads them here. */
  public void drop(int table, TableChanges changes) {
    layered.get(table).drop(changes.layer);
  }

  /**
   * Computes what ids without a row read as, where that depends on all rows, so that no reader has
   * to. The tables must not change during the call.
   */
  public void prepareUnknown() {
    layered.forEach(LayeredRows::prepareUnknown);
  }

  /** How a table is read beneath changes; empty if all are read as they are. */
  Optional<LayeredRows> layered(int table) {
    return layered.isEmpty() ? Optional.empty() : Optional.of(layered.get(table));
  }

  public List<EmbeddingTable> tables() {
    return tables;
  }

  int slotCount() {
    return ofSlots.size();
  }

  /** How several ids of a slot become one vector. */
  public Combiner combiner(int slot) {
    return combiners.get(slot);
  }

  /** The number of a slot's table. */
  int table(int slot) {
    return ofSlots.get(slot);
  }

  /**
   * Says that each of the tables is one shard of a table that ranks hold together: {@link
   * TableShard#ofRank}. Lookups that are made afterwards read and update the rows of all ranks, and
   * all ranks must call theirs in step.
   */
  public void share(Mesh mesh) {
    ranks = Optional.of(mesh);
  }

  /** Which part of each table these tables are. */
  public TableShard shard() {
    return ranks.map(mesh -> TableShard.ofRank(mesh.rank(), mesh.ranks())).orElse(TableShard.WHOLE);
  }

  /** The ranks that hold the tables together; empty where all rows are here. */
  public Optional<Mesh> ranks() {
    return ranks;
  }

  /** For each table, an object that takes its part of a batch. */
  TableBatch[] newBatch(SlotPlaces places) {
    return IntStream.range(0, tables.size())
        .mapToObj(table -> IntStream.range(0, slotCount()).filter(s -> ofSlots.get(s) == table))
        .map(slots -> new TableBatch(slots.toArray(), places))
        .toArray(TableBatch[]::new);
  }

  /** For each slot how several of its ids become one vector. */
  public List<Combiner> combiners() {
    return combiners;
  }

  /** How several ids of each of {@code slots} become one vector. */
  List<Combiner> combiners(int[] slots) {
    return Arrays.stream(slots).mapToObj(combiners::get).toList();
  }

  /** Bytes held by all tables. */
  public long bytes() {
    return tables.stream().mapToLong(EmbeddingTable::bytes).sum();
  }

  /** Rows of all tables. */
  public long rows() {
    return tables.stream().mapToLong(EmbeddingTable::size).sum();
  }

  /** {@link EmbeddingTable#statistics} of each table. */
  public List<TableStatistics> statistics() {
    return tables.stream().map(EmbeddingTable::statistics).toList();
  }

  /**
   * Looks batches up in tables of one width {@code W}, one after another.
   *
   * @param parts widths of the tensors that a row is split over; their sum is {@code W}
   */
  public BatchLookup newLookup(List<Integer> parts) {
    return new BatchLookup(this, front(parts), false, List.of());
  }

  /**
   * Looks batches up as {@link #newLookup(List)} does, with rows of one part, and gives the rows of
   * some slots id by id instead of pooled.
   *
   * @param sequences the slots of each sequence, side by side in its rows; others are pooled
   */
  public BatchLookup newLookup(int width, List<List<Integer>> sequences) {
    return new BatchLookup(this, front(List.of(width)), false, sequences);
  }

  /**
   * Looks batches up in tables whose rows may differ in the width of their last part.
   *
   * @param front widths of the tensors that a row is split over, without the last one, which takes
   *     the rest of each row: 1 float or more
   * @param sequences as in {@link #newLookup(int, List)}; where there are any, {@code front} is
   *     empty
   */
  public BatchLookup newMixedLookup(List<Integer> front, List<List<Integer>> sequences) {
    return new BatchLookup(this, front, false, sequences);
  }

  /**
   * Looks batches up as {@link #newLookup(List)} does, and gives the sum of the dot products of all
   * pairs of vectors that were pooled, each times its factor, for each row and slot. The vectors
   * are those of the last part. A row with one id or none has the sum 0.
   */
  public BatchLookup newPairLookup(List<Integer> parts) {
    return new BatchLookup(this, front(parts), true, List.of());
  }

  /** Parts without the last, after a check that they make up the rows of all tables. */
  private List<Integer> front(List<Integer> parts) {
    int sum = parts.stream().mapToInt(Integer::intValue).sum();
    for (EmbeddingTable table : tables) {
      int width = table.config().width();
      if (sum != width || parts.stream().anyMatch(part -> part < 1)) {
        throw new IllegalArgumentException(
            "table %s: got rows in parts of widths %s, expected 1 or more each and %d in all"
                .formatted(table.config().name(), parts, width));
      }
    }
    return parts.subList(0, Math.max(0, parts.size() - 1));
  }

  @Override
  public void close() {
    if (!layered.isEmpty()) {
      return; // Who made the tables closes them.
    }
    tables.forEach(EmbeddingTable::close);
  }
}
