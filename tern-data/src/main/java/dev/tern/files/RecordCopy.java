package dev.tern.files;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import java.util.List;
import java.util.OptionalLong;

/**
 * The records of files, one after the other, each of which can be appended to one of several new
 * files as it stands: a line byte for byte, a Parquet row with all its columns. {@link DataSplit}
 * says which goes where. The copying methods of readers, such as {@link
 * dev.tern.files.text.CsvReader#copy}, make one.
 *
 * <p>Of a record the key alone is read, so what it holds elsewhere may be anything. A fault of the
 * notation goes to {@link Faults}; where that returns, the record is in none of the new files.
 *
 * <p>The new files appear under their names when {@link #finish} returns; closing before leaves no
 * file and whatever was there before untouched. Not thread-safe.
 */
public interface RecordCopy extends AutoCloseable {
  /** What {@link #next} appends: the slot of the key, or nothing where there is none. */
  Schema schema();

  /** Records of all files, where they say so. */
  OptionalLong rowCount();

  /**
   * Goes to the next record and appends a row with its key to {@code keys}.
   *
   * @return false, and no row, at the end of the last file
   * @throws dev.tern.base.DataException for a fault that {@link Faults} does not pass over
   */
  boolean next(Batch keys);

  /** File and line or row of the current record, for messages. */
  String where();

  /** Appends the current record to new file number {@code part}; once a record. */
  void copyTo(int part);

  /** How the new files differ from the old, in words: comments that they lack, another codec. */
  List<String> notes();

  /**
   * Completes the new files after the last record: flushes and forces all of them to disk, then
   * gives them their names.
   *
   * @return the records of each
   * @throws IllegalStateException if a record was not copied
   */
  long[] finish();

  /** Lets go of all files; unless finished, deletes the new ones. Closing twice is harmless. */
  @Override
  void close();
}
