package dev.tern.embedding.config;

/**
 * What a table keeps in a file.
 *
 * @param rows rows that are in the file and not in memory
 * @param bytes bytes of the file on the disk
 * @param spilled times that a row left memory for the file
 * @param fetched times that a row came back
 * @param bytesWritten bytes written to the file or about to be; a row that leaves is merged with
 *     others in the file, which are read and written again
 * @param bytesRead bytes read from the file, also for scoring, exports and batches looked up ahead;
 *     depends on the order of lookups
 */
public record FileStatistics(
    long rows, long bytes, long spilled, long fetched, long bytesWritten, long bytesRead) {
  /** The statistics of a table without a file. */
  public static final FileStatistics NONE = new FileStatistics(0, 0, 0, 0, 0, 0);
}
