package dev.tern.embedding.config;

import java.lang.foreign.MemorySegment;

/** Gives the rows of a table, block after block. */
@FunctionalInterface
public interface RowSource {
  /**
   * Writes up to {@code ids.length} rows.
   *
   * @param ids takes the ids
   * @param values takes the rows, {@code ids.length x rowFloats} packed floats: of each its
   *     weights, then its optimizer state ({@link TableConfig#rowFloats()})
   * @return rows written; 0 at the end
   */
  int next(long[] ids, MemorySegment values);
}
