package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.Schema;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * See {@link Readers#batched}. Batches are cut at multiples of the size from the start of the pass,
 * also after a skip of another number of rows.
 */
final class BatchedReader extends PositionedReader {
  private final DataReader source;
  private final RowCursor cursor;
  private final int size;
  private final boolean dropLast;
  private final BatchPool pool;

  BatchedReader(DataReader source, int size, boolean dropLast) {
    this.source = source;
    this.size = size;
    this.dropLast = dropLast;
    cursor = new RowCursor(source);
    pool = new BatchPool(source.schema(), Math.min(size, 1 << 16));
  }

  @Override
  public Schema schema() {
    return source.schema();
  }

  @Override
  protected Optional<Batch> read() {
    return readFrom(pool);
  }

  @Override
  protected Optional<Batch> readView() {
    Optional<Batch> whole = cursor.takeWhole(size);
    return whole.isPresent() ? whole : readFrom(pool);
  }

  @Override
  protected boolean readInto(Batch target) {
    int rows = cursor.fill(target, size);
    return rows == size || rows > 0 && !dropLast;
  }

  @Override
  protected long pass(long rows) {
    long passed = cursor.skip(rows / size * size);
    return dropLast ? passed / size * size : passed;
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    cursor.start(epoch, order);
  }

  @Override
  protected PassOrder order() {
    return source.state().order();
  }

  @Override
  public OptionalLong rowCount() {
    OptionalLong rows = source.rowCount();
    return dropLast && rows.isPresent() ? OptionalLong.of(rows.getAsLong() / size * size) : rows;
  }

  @Override
  protected void release() {
    cursor.close();
  }
}
