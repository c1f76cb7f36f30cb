package dev.tern.internal.files;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.files.Faults;

/** The rows of one open file. */
public interface RowSource extends AutoCloseable {
  /**
   * Appends rows until {@code batch} holds {@code limit} of them; fewer only at the end of the
   * file. A fault that leaves the next record findable goes to {@link Faults}; any other is thrown
   * and ends the file. Rows ended before a throw stay in the batch.
   */
  void fill(Batch batch, int limit);

  /** Skips rows; returns fewer than asked only at the end of the file. */
  long skip(long rows);

  /**
   * Rows that this file has by its own word and that are neither appended, skipped nor reported, or
   * {@link DataException#UNKNOWN_ROWS}. They are lost when a fault ends the file here.
   */
  default long left() {
    return DataException.UNKNOWN_ROWS;
  }

  @Override
  void close();
}
