package dev.tern.files;

import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import java.util.function.LongConsumer;

/**
 * A world of synthetic rows with a planted teacher: the probability of each label of each row is
 * known, so the best AUC and log loss that any model can reach are known too. A row depends on the
 * world and its number alone: sets of different rows share teacher and ids.
 */
public sealed interface RowGenerator permits CriteoGenerator, TaobaoGenerator {
  /** Rows that {@link #optimum} takes: 8 bytes of heap each. */
  int MAX_OPTIMUM_ROWS = 1 << 27;

  /** The columns of the rows. */
  Schema schema();

  /** Rows {@code firstRow} to {@code firstRow + rows - 1}. */
  DataReader open(long firstRow, long rows);

  /**
   * What a perfect model reaches in a label of {@code rows} rows from {@code firstRow}.
   *
   * @param label its number in the schema
   * @param rows at most {@link #MAX_OPTIMUM_ROWS}
   * @param progress told now and then how many rows are done
   */
  Optimum optimum(int label, long firstRow, long rows, LongConsumer progress);

  /** Checks a range of rows. */
  static void requireRange(long firstRow, long rows) {
    if (firstRow < 0 || rows < 0 || firstRow + rows < 0) {
      throw new IllegalArgumentException(
          "generate: got %s rows from row %s, expected numbers of 0 or more"
              .formatted(rows, firstRow));
    }
  }

  /** Checks the rows of an optimum. */
  static void requireOptimum(long firstRow, long rows) {
    requireRange(firstRow, rows);
    if (rows > MAX_OPTIMUM_ROWS) {
      throw new IllegalArgumentException(
          "optimum: got %s rows, expected at most %s; take a part of the set"
              .formatted(rows, MAX_OPTIMUM_ROWS));
    }
  }
}
