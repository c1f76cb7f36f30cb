package dev.tern.data.readers;

import dev.tern.data.Batch;

/** Decides which rows {@link Readers#filtered} keeps. */
@FunctionalInterface
public interface RowFilter {
  /**
   * Whether to keep row {@code row} of {@code batch}; must depend on the content of the row only.
   */
  boolean keeps(Batch batch, int row);
}
