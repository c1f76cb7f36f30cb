package dev.tern.internal.files;

import dev.tern.base.DataException;
import dev.tern.data.Batch;

/** The records of one open file, each as bytes of a buffer. */
public interface RecordSource extends AutoCloseable {
  /**
   * Goes to the next record and appends a row with its key to {@code keys}; false at the end of the
   * file. Faults are as in {@link RowSource#fill}.
   */
  boolean next(Batch keys);

  /** The buffer that holds the record, until the next one. */
  byte[] bytes();

  /** First byte of the record. */
  int start();

  /** Where the record ends, with the end of its line. */
  int end();

  /** File and line or row of the record, for messages. */
  String where();

  /** Comments passed over so far between records. */
  default long comments() {
    return 0;
  }

  /** As {@link RowSource#left}. */
  default long left() {
    return DataException.UNKNOWN_ROWS;
  }

  @Override
  void close();
}
