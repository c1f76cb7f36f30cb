package dev.tern.embedding.config;

/**
 * What happens to a new id in a table with {@link RowPolicy#maxRows} rows of which none can make
 * room. Rows of the current batch never do.
 */
public enum WhenFull {
  /** Training ends with an error that names table, id and limit. */
  ERROR,
  /** The id stays without a row, and reads as {@link UnknownRow} says. */
  UNKNOWN
}
