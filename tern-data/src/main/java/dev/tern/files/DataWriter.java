package dev.tern.files;

import dev.tern.data.Batch;
import dev.tern.data.Schema;

/**
 * Where rows go: a file of one format. All writers of this package are DataWriters.
 *
 * <p>The file appears under its name only when {@link #finish} returns; until then bytes go beside
 * it. Closing an unfinished writer leaves no file and whatever was there before untouched, so a
 * failure anywhere in a try-with-resources block never leaves half a data set. Not thread-safe.
 */
public interface DataWriter extends AutoCloseable {
  /** What the rows hold; batches must have as many columns of each kind. */
  Schema schema();

  /**
   * Appends the rows of {@code batch}, which stays the caller's.
   *
   * @throws dev.tern.base.DataException where a value does not fit the format, or on a failed write
   */
  void write(Batch batch);

  /** Completes the file: flushes, forces to disk, renames. Nothing may be written afterwards. */
  void finish();

  /** Lets go of the file; unless finished, deletes what was written. Closing twice is harmless. */
  @Override
  void close();
}
