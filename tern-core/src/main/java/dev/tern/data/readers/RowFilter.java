package dev.tern.data.readers;

import dev.tern.data.Batch;

/** Which rows {@link Readers#filtered} keeps. */
@FunctionalInterface
public interface RowFilter {
  /** Whether row {@code row} of {@code batch} stays; decided by what the row holds alone. */
  boolean keeps(Batch batch, int row);
}
