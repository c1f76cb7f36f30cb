package dev.tern.embedding;

import java.util.List;

/** The tables of a model, one for each slot and all of one width {@code W}. */
public final class SlotTables implements AutoCloseable {
  private final List<EmbeddingTable> tables;
  private final Combiner combiner;

  /** Takes over {@code tables}, table {@code s} for slot {@code s}. */
  public SlotTables(List<EmbeddingTable> tables, Combiner combiner) {
    this.tables = List.copyOf(tables);
    this.combiner = combiner;
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

  /** What each table holds, and what became of the ids that training looked up in it. */
  public List<TableStatistics> statistics() {
    return tables.stream().map(EmbeddingTable::statistics).toList();
  }

  /**
   * Looks batches up, one after another.
   *
   * @param parts widths of the tensors that a row is split over; their sum is {@code W}
   */
  public BatchLookup newLookup(List<Integer> parts) {
    return new BatchLookup(this, parts);
  }

  @Override
  public void close() {
    tables.forEach(EmbeddingTable::close);
  }
}
