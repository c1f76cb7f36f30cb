package dev.tern.embedding.config;

import java.lang.foreign.MemorySegment;

/** Gives the rows of a table, block after block. */
@FunctionalInterface
public interface RowSource {
  /**
   * Writes up to {@code ids.length} rows.
   *
   * @param ids takes the ids
   * @param values takes {@code ids.length x rowFloats} packed floats ({@link
   *     TableConfig#rowFloats()})
   * @return rows written; 0 at the end
   */
  int next(long[] ids, MemorySegment values);
}
