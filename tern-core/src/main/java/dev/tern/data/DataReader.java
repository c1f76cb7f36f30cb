package dev.tern.data;

import dev.tern.base.DataException;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Rows of a data set in a fixed order, pass after pass. Files, generators and decorators ({@link
 * Readers}) are all DataReaders, so they compose.
 *
 * <p>A {@link #state()} taken between any two batches says which rows were delivered; {@link
 * #restore} in a new reader of the same data goes on with exactly the others. Rows in flight inside
 * decorators are not delivered, so they need no saving: they are read again. {@code start(epoch)}
 * then {@code skip(rows)} does the same for a consumer that counts rows itself, except above {@link
 * Readers#mappedUnordered}, whose order only the state knows.
 *
 * <p>Bad data raises {@link DataException} naming file, row and byte offset. After an exception
 * {@code start} or {@code restore} begin anew, and the state is that before the call that threw.
 * Not thread-safe: one consumer.
 *
 * <p>To write a reader extend {@link PositionedReader}, which keeps the state.
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
   * As {@link #next}, for a caller that does not write to the batch: a reader that keeps its rows
   * lends them without a copy.
   */
  default Optional<Batch> nextView() {
    return next();
  }

  /**
   * As {@link #next}, but appends the rows to a batch of the caller, which saves a copy where the
   * reader can write there.
   *
   * @param target an empty batch of this schema
   * @return whether there were rows
   */
  default boolean nextInto(Batch target) {
    return PositionedReader.append(nextView(), target);
  }

  /**
   * Nanoseconds that {@link #next} has waited so far for rows that another thread reads ahead. A
   * reader that does not read ahead says 0.
   */
  default long waitedNanos() {
    return 0;
  }

  /**
   * Whether {@link #next} would give rows at once, as they were read ahead. A reader that does not
   * read ahead says no.
   */
  default boolean isReady() {
    return false;
  }

  /**
   * Goes to the first row of pass {@code epoch} (from 0). Only decorators that draw random numbers
   * depend on the epoch. A new reader stands at epoch 0.
   */
  default void start(int epoch) {
    restore(ReaderState.start(epoch));
  }

  /**
   * Skips rows of this pass, as cheaply as the format allows.
   *
   * @return rows skipped: fewer than asked only at the end of the pass
   */
  long skip(long rows);

  /** Where the reader stands: after the rows that were delivered or skipped. */
  ReaderState state();

  /**
   * Goes to where a reader of the same data, made in the same way, stood.
   *
   * @throws DataException if the pass has fewer rows than were read of it
   */
  void restore(ReaderState state);

  /** Rows of a pass where this is known without reading them all. */
  OptionalLong rowCount();

  /** Lets go of files and threads; never blocks for long. Closing twice is harmless. */
  @Override
  void close();
}
