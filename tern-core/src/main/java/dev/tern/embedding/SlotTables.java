package dev.tern.embedding;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableStatistics;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The tables of a model, all of one width {@code W}. Each slot has a table; several slots may share
 * one.
 */
public final class SlotTables implements AutoCloseable {
  private final List<EmbeddingTable> tables;
  private final List<Integer> ofSlots;
  private final List<Combiner> combiners;

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

  public List<EmbeddingTable> tables() {
    return tables;
  }

  int slotCount() {
    return ofSlots.size();
  }

  /** For each table, an object that takes its part of a batch. */
  TableBatch[] newBatch(SlotPlaces places) {
    return IntStream.range(0, tables.size())
        .mapToObj(table -> IntStream.range(0, slotCount()).filter(s -> ofSlots.get(s) == table))
        .map(slots -> new TableBatch(slots.toArray(), places))
        .toArray(TableBatch[]::new);
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
   * Looks batches up, one after another.
   *
   * @param parts widths of the tensors that a row is split over; their sum is {@code W}
   */
  public BatchLookup newLookup(List<Integer> parts) {
    return new BatchLookup(this, parts, false, List.of());
  }

  /**
   * Looks batches up as {@link #newLookup(List)} does, with rows of one part, and gives the rows of
   * some slots id by id instead of pooled.
   *
   * @param sequences the slots of each sequence, side by side in its rows; others are pooled
   */
  public BatchLookup newLookup(int width, List<List<Integer>> sequences) {
    return new BatchLookup(this, List.of(width), false, sequences);
  }

  /**
   * Looks batches up as {@link #newLookup(List)} does, and gives the sum of the dot products of all
   * pairs of vectors that were pooled, each times its factor, for each row and slot. The vectors
   * are those of the last part. A row with one id or none has the sum 0.
   */
  public BatchLookup newPairLookup(List<Integer> parts) {
    return new BatchLookup(this, parts, true, List.of());
  }

  @Override
  public void close() {
    tables.forEach(EmbeddingTable::close);
  }
}
