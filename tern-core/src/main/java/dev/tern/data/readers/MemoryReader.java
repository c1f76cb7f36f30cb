package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.Schema;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#inMemory}. */
final class MemoryReader extends PositionedReader {
  private final Schema schema;
  private final List<Batch> batches;
  private final long rows;
  private final BatchPool pool;
  private int current;

  MemoryReader(Schema schema, List<Batch> batches) {
    this.schema = schema;
    this.batches = batches.stream().filter(batch -> batch.size() > 0).map(this::copy).toList();
    rows = this.batches.stream().mapToLong(Batch::size).sum();
    pool = new BatchPool(schema, 1);
  }

  private Batch copy(Batch batch) {
    Readers.requireSchema("in memory", batch.schema(), schema);
    Batch copy = new Batch(batch.schema(), batch.size());
    copy.appendRows(batch, 0, batch.size());
    return copy;
  }

  @Override
  public Schema schema() {
    return schema;
  }

  /** Lends a copy, for a batch is its borrower's to write to. */
  @Override
  protected Optional<Batch> read() {
    return readFrom(pool);
  }

  @Override
  protected Optional<Batch> readView() {
    return current == batches.size() ? Optional.empty() : Optional.of(batches.get(current++));
  }

  @Override
  protected long pass(long rows) {
    long passed = 0;
    while (current < batches.size() && batches.get(current).size() <= rows - passed) {
      passed += batches.get(current++).size();
    }
    return passed;
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    current = 0;
  }

  @Override
  public OptionalLong rowCount() {
    return OptionalLong.of(rows);
  }

  @Override
  protected void release() {}
}
