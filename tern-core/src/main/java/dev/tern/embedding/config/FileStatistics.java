package dev.tern.embedding.config;

/**
 * What a table keeps in a file.
 *
 * @param rows rows that are in the file and not in memory
 * @param bytes bytes of the file on the disk
 * @param spilled times that a row left memory for the file
 * @param fetched times that a row came back
 * @param bytesWritten bytes written to the file or about to be; rows that leave are merged with
 *     others there, which are read and written again
 * @param bytesRead bytes read from the file, those for scoring, exports and batches looked up ahead
 *     among them: how many depends on what was looked up when
 */
public record FileStatistics(
    long rows, long bytes, long spilled, long fetched, long bytesWritten, long bytesRead) {
  /** Of a table without one. */
  public static final FileStatistics NONE = new FileStatistics(0, 0, 0, 0, 0, 0);
}
