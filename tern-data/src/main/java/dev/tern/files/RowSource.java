package dev.tern.files;

import dev.tern.data.Batch;

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

  @Override
  void close();
}
