package dev.tern.embedding.config;

/** Takes the rows of a table, block after block. */
@FunctionalInterface
public interface RowSink {
  /**
   * Takes {@code count} rows.
   *
   * @param ids ids, ascending within and across blocks; valid during the call
   * @param values address of {@code count x rowFloats} packed floats, each row its weights,
   *     whatever they are stored as, then its optimizer state ({@link TableConfig#rowFloats()});
   *     valid during the call
   * @param count rows, 1 or more
   */
  void accept(long[] ids, long values, int count);
}
