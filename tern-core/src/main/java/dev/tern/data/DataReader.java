package dev.tern.data;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Rows of a data set in a fixed order, pass after pass. Files, generators and decorators (encode,
 * shuffle, batch, prefetch) are all DataReaders, so they compose.
 *
 * <p>A position is (epoch, rows delivered in it): {@code start(epoch)} then {@code skip(rows)}
 * resumes exactly where an earlier reader stopped. The consumer counts the rows it has used, so
 * rows in flight inside decorators need no saving.
 *
 * <p>Bad data raises {@link DataException} naming file, row and byte offset. Not thread-safe: one
 * consumer.
 */
public interface DataReader extends AutoCloseable {
  /** What the rows hold; fixed for the life of the reader. */
  Schema schema();

  /**
   * The next rows, at least one, or empty at the end of the pass. The batch is the caller's until
   * closed; it must be closed before the reader is.
   */
  Optional<Batch> next();

  /**
   * Goes to the first row of pass {@code epoch} (from 0). Only decorators that draw random numbers
   * depend on the epoch. A new reader stands at epoch 0.
   */
  void start(int epoch);

  /**
   * Skips rows of this pass, as cheaply as the format allows.
   *
   * @return rows skipped: fewer than asked only at the end of the pass
   */
  long skip(long rows);

  /** Rows of a pass where this is known without reading them all. */
  OptionalLong rowCount();

  /** Lets go of files and threads; never blocks for long. Closing twice is harmless. */
  @Override
  void close();
}
