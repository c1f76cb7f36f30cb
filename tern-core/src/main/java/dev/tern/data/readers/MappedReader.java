package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.Schema;
import java.util.Optional;

/** See {@link Readers#mapped(DataReader, Schema, BatchMap)}. */
final class MappedReader extends DerivedReader {
  private final CheckedMap map;

  /** Rows of the source read or skipped in this pass. */
  private long at;

  MappedReader(DataReader source, Schema schema, BatchMap map) {
    super(source);
    this.map = new CheckedMap(schema, map);
  }

  @Override
  public Schema schema() {
    return map.schema();
  }

  @Override
  protected Optional<Batch> read() {
    Optional<Batch> next = source.next();
    if (next.isEmpty()) {
      return next;
    }
    try (Batch batch = next.get()) {
      Batch mapped = map.apply(batch, epoch(), at);
      at += batch.size();
      return Optional.of(mapped);
    }
  }

  @Override
  protected long pass(long rows) {
    long passed = source.skip(rows);
    at += passed;
    return passed;
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    at = 0;
    super.begin(epoch, order);
  }
}
