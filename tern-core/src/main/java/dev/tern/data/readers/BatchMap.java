package dev.tern.data.readers;

import dev.tern.data.Batch;

/**
 * A change of rows, for {@link Readers#mapped}. The result of a row must not depend on other rows
 * of the batch. If several threads map, it must be thread-safe.
 */
@FunctionalInterface
public interface BatchMap {
  /**
   * Writes a changed copy of each row of {@code from} to {@code to}, in the same order.
   *
   * @param from rows to read
   * @param to an empty batch, to be filled with as many rows
   */
  void apply(Batch from, Batch to);
}
