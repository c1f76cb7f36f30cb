package dev.tern.data.readers;

import dev.tern.data.Batch;

/**
 * What {@link Readers#mapped} does to rows. It must do the same to a row whatever others are in the
 * batch, and where several threads map it must be safe for them.
 */
@FunctionalInterface
public interface BatchMap {
  /**
   * Puts each row of {@code from}, changed, at the same place of {@code to}.
   *
   * @param from rows to read
   * @param to without rows; to be filled with as many as {@code from} has
   */
  void apply(Batch from, Batch to);
}
