package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.ReaderState;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Walks over the rows of a reader one by one, however it cuts batches. Holds at most one batch, and
 * does not write to it.
 */
final class RowCursor {
  private final DataReader source;
  private @Nullable Batch held;
  private int at;

  RowCursor(DataReader source) {
    this.source = source;
  }

  /**
   * The next batch of the source, if it has exactly {@code rows} rows; else empty, and nothing
   * changes. The caller must not write to it.
   */
  Optional<Batch> takeWhole(int rows) {
    Batch batch = peek();
    if (batch == null || at > 0 || batch.size() != rows) {
      return Optional.empty();
    }
    held = null;
    return Optional.of(batch);
  }

  /** The batch that holds the next row; null at the end. */
  @Nullable Batch peek() {
    if (held == null) {
      held = source.nextView().orElse(null);
      at = 0;
    }
    return held;
  }

  /** Appends the next rows to {@code target}: {@code rows} of them, or fewer at the end. */
  int fill(Batch target, int rows) {
    int filled = 0;
    while (filled < rows) {
      Batch batch = peek();
      if (batch == null) {
        break;
      }
      int count = Math.min(rows - filled, batch.size() - at);
      target.appendRows(batch, at, at + count);
      filled += count;
      advance(batch, count);
    }
    return filled;
  }

  /** Skips rows; returns how many, fewer only at the end. */
  long skip(long rows) {
    long skipped = 0;
    Batch batch = held;
    if (batch != null) {
      int count = (int) Math.min(rows, batch.size() - at);
      skipped = count;
      advance(batch, count);
    }
    return skipped < rows ? skipped + source.skip(rows - skipped) : skipped;
  }

  void start(int epoch, PassOrder order) {
    drop();
    source.restore(new ReaderState(epoch, 0, order));
  }

  /** Gives back the batch at hand and closes the reader. */
  void close() {
    drop();
    source.close();
  }

  /** The number of the next row in {@link #peek}. */
  int row() {
    return at;
  }

  /** Goes on by {@code rows} rows of {@code batch}, the batch at hand. */
  void advance(Batch batch, int rows) {
    at += rows;
    if (at == batch.size()) {
      drop();
    }
  }

  private void drop() {
    Batch batch = held;
    if (batch != null) {
      held = null;
      batch.close();
    }
  }
}
