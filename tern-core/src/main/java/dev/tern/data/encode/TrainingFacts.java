package dev.tern.data.encode;

import java.util.List;
import java.util.Optional;

/**
 * What the training rows were like.
 *
 * @param rows training rows
 * @param columns dense columns, then slots, in the order of the raw schema
 */
public record TrainingFacts(long rows, List<Column> columns) {
  public TrainingFacts {
    columns = List.copyOf(columns);
  }

  /**
   * What one column was like.
   *
   * @param name of the dense column or slot
   * @param missing rows without a value
   * @param unknown share of the values that the vocabulary of the column's table leaves out, 0 to 1
   * @param only the value of all rows that have one, where it is the same; empty in an encoder that
   *     was read from a checkpoint
   */
  public record Column(String name, long missing, double unknown, Optional<String> only) {}

  /** The facts of a column by name; empty if there is none. */
  public Optional<Column> column(String name) {
    return columns.stream().filter(column -> column.name().equals(name)).findFirst();
  }
}
