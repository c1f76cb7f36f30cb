package dev.tern.embedding;

/**
 * What a table keeps in a file.
 *
 * @param rows rows that are in the file and not in memory
 * @param bytes bytes of the file on the disk
 * @param spilled times that a row left memory for the file
 * @param fetched times that a row came back
 */
public record FileStatistics(long rows, long bytes, long spilled, long fetched) {
  /** Of a table without one. */
  public static final FileStatistics NONE = new FileStatistics(0, 0, 0, 0);
}
