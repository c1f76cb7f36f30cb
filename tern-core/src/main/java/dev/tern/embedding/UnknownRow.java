package dev.tern.embedding;

/** What an id that has no row reads as, where looking up must not insert. */
public enum UnknownRow {
  /** Zeros. */
  ZEROS,
  /** The row that training would start this id with. */
  INITIAL,
  /** The mean of all rows of the table; zeros while it is empty. */
  MEAN
}
