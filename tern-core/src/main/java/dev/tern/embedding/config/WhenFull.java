package dev.tern.embedding.config;

/**
 * What happens to an id that is to have a row in a table with as many as it may have, where none
 * can make room: rows of the batch at hand never do.
 */
public enum WhenFull {
  /** Training ends with an error that names table, id and limit. */
  ERROR,
  /** The id stays without a row, and reads as unknown ids do. */
  UNKNOWN
}
