package dev.tern.data;

import dev.tern.base.DataException;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The rows of a data set in a fixed order, pass after pass. Files, generators and decorators
 * ({@link dev.tern.data.readers.Readers}) are all DataReaders, so they compose.
 *
 * <p>{@link #state()} between two batches says which rows were delivered. {@link #restore} in a new
 * reader of the same data continues with exactly the other rows. Rows inside decorators are not
 * delivered yet, so a restored reader reads them again. A consumer that counts rows itself can call
 * {@code start(epoch)} and {@code skip(rows)} instead, except above {@link
 * dev.tern.data.readers.Readers#mappedUnordered}, whose order only the state knows.
 *
 * <p>Bad data raises a {@link DataException} that names file, row and byte offset. After an
 * exception the state is the one before the failed call, and {@code start} or {@code restore} begin
 * anew. Not thread-safe: a reader has one consumer.
 *
 * <p>To write a reader extend {@link PositionedReader}, which keeps the state.
 */
public interface DataReader extends AutoCloseable {
  /** The columns of the rows; fixed for the life of the reader. */
  Schema schema();

  /**
   * The next rows, at least one; empty at the end of the pass. The batch belongs to the caller
   * until it is closed, which must be before the reader is closed.
   */
  Optional<Batch> next();

  /**
   * As {@link #next}, for a caller that only reads the batch. A reader that keeps its rows need not
   * copy them.
   */
  default Optional<Batch> nextView() {
    return next();
  }

  /**
   * As {@link #next}, but appends the rows to a batch of the caller. This saves a copy if the
   * reader can write there.
   *
   * @param target an empty batch of this schema
   * @return whether there were rows
   */
  default boolean nextInto(Batch target) {
    return PositionedReader.append(nextView(), target);
  }

  /**
   * Nanoseconds that {@link #next} has waited so far for a thread that reads ahead; 0 for a reader
   * that does not read ahead.
   */
  default long waitedNanos() {
    return 0;
  }

  /**
   * Whether {@link #next} would give rows at once, because they were read ahead; false for a reader
   * that does not read ahead.
   */
  default boolean isReady() {
    return false;
  }

  /**
   * Goes to the first row of pass {@code epoch}, counted from 0. Only decorators that draw random
   * numbers depend on the epoch. A new reader is at the first row of pass 0.
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

  /** The position of the reader: after the rows that were delivered or skipped. */
  ReaderState state();

  /**
   * Goes to the position of another reader of the same data that was made in the same way.
   *
   * @throws DataException if the pass has fewer rows than that reader had read
   */
  void restore(ReaderState state);

  /** Rows of a pass; empty if that is not known without reading them all. */
  OptionalLong rowCount();

  /**
   * How fields of text became the values of these rows; empty for rows that come from no fields, or
   * where several readers differ.
   */
  default Optional<Reading> reading() {
    return Optional.empty();
  }

  /** Releases files and threads; never blocks for long. Closing twice is harmless. */
  @Override
  void close();
}
