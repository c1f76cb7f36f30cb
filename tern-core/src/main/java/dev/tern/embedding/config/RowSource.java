package dev.tern.embedding.config;

/** Gives the rows of a table, block after block. */
@FunctionalInterface
public interface RowSource {
  /**
   * Writes up to {@code ids.length} rows.
   *
   * @param ids takes the ids
   * @param values address with room for {@code ids.length x rowFloats} packed floats, each row its
   *     weights then its optimizer state ({@link TableConfig#rowFloats()})
   * @return rows written; 0 at the end
   */
  int next(long[] ids, long values);
}
