package dev.tern.data;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#inMemory}. */
final class MemoryReader implements DataReader {
  private final Schema schema;
  private final List<Batch> batches;
  private final long rows;
  private int current;

  /** Rows of the current batch that were skipped. */
  private int at;

  MemoryReader(Schema schema, List<Batch> batches) {
    this.schema = schema;
    this.batches = batches.stream().filter(batch -> batch.size() > 0).map(this::copy).toList();
    rows = this.batches.stream().mapToLong(Batch::size).sum();
  }

  private Batch copy(Batch batch) {
    Readers.requireSchema("in memory", batch.schema(), schema);
    return copy(batch, 0);
  }

  private static Batch copy(Batch batch, int from) {
    Batch copy = new Batch(batch.schema(), batch.size() - from);
    copy.appendRows(batch, from, batch.size());
    return copy;
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public Optional<Batch> next() {
    if (current == batches.size()) {
      return Optional.empty();
    }
    Batch batch = batches.get(current++);
    int from = at;
    at = 0;
    return Optional.of(from == 0 ? batch : copy(batch, from));
  }

  @Override
  public void start(int epoch) {
    current = 0;
    at = 0;
  }

  @Override
  public long skip(long rows) {
    long skipped = 0;
    while (skipped < rows && current < batches.size()) {
      int rest = batches.get(current).size() - at;
      if (rows - skipped < rest) {
        at += (int) (rows - skipped);
        return rows;
      }
      skipped += rest;
      current++;
      at = 0;
    }
    return skipped;
  }

  @Override
  public OptionalLong rowCount() {
    return OptionalLong.of(rows);
  }

  @Override
  public void close() {}
}
