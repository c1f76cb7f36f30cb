package dev.tern.data;

import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * See {@link Readers#batched}. Batches are cut at multiples of the size from the start of the pass,
 * also after a skip of another number of rows.
 */
final class BatchedReader implements DataReader {
  private final DataReader source;
  private final RowCursor cursor;
  private final int size;
  private final boolean dropLast;
  private final BatchPool pool;

  /** A batch of which rows before {@code headAt} were skipped. */
  private @Nullable Batch head;

  private int headAt;

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
  public Optional<Batch> next() {
    Batch skipped = head;
    if (skipped == null) {
      return read();
    }
    Batch rest = pool.take();
    rest.appendRows(skipped, headAt, skipped.size());
    dropHead();
    return Optional.of(rest);
  }

  private Optional<Batch> read() {
    Batch batch = pool.take();
    try {
      int rows = cursor.fill(batch, size);
      if (rows == size || rows > 0 && !dropLast) {
        return Optional.of(batch);
      }
    } catch (Throwable e) {
      batch.close();
      throw e;
    }
    batch.close();
    return Optional.empty();
  }

  @Override
  public void start(int epoch) {
    dropHead();
    cursor.start(epoch);
  }

  @Override
  public long skip(long rows) {
    long left = rows - skipHead(rows);
    long whole = left / size * size;
    long skipped = cursor.skip(whole);
    left -= dropLast ? skipped / size * size : skipped;
    if (skipped == whole && left > 0) {
      head = read().orElse(null);
      headAt = 0;
      left -= skipHead(left);
    }
    return rows - left;
  }

  private int skipHead(long rows) {
    Batch batch = head;
    if (batch == null) {
      return 0;
    }
    int count = (int) Math.min(rows, batch.size() - headAt);
    headAt += count;
    if (headAt == batch.size()) {
      dropHead();
    }
    return count;
  }

  private void dropHead() {
    Batch batch = head;
    if (batch != null) {
      head = null;
      batch.close();
    }
  }

  @Override
  public OptionalLong rowCount() {
    OptionalLong rows = source.rowCount();
    return dropLast && rows.isPresent() ? OptionalLong.of(rows.getAsLong() / size * size) : rows;
  }

  @Override
  public void close() {
    dropHead();
    cursor.close();
  }
}
