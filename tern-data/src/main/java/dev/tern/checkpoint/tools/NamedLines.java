package dev.tern.checkpoint.tools;

import dev.tern.checkpoint.Checkpoint;
import java.util.ArrayList;
import java.util.List;

/**
 * Lines of text whose columns the first one names: {@code id}, {@code value} or both, and each
 * weight by its name, in any order. A value that is there counts; an id beside it must be its own.
 */
final class NamedLines {
  private final RowValues values;
  private final int id;
  private final int value;
  private final int[] weights;
  private final int columns;

  private NamedLines(RowValues values, List<String> names, List<String> weights) {
    this.values = values;
    columns = names.size();
    id = names.indexOf(RowNames.ID);
    value = names.indexOf(RowNames.VALUE);
    this.weights = weights.stream().mapToInt(names::indexOf).toArray();
  }

  /** Whether {@code line}, the first of a file, names columns. */
  static boolean isHeader(String line) {
    List<String> names = List.of(line.split("\t", -1));
    return names.contains(RowNames.ID) || names.contains(RowNames.VALUE);
  }

  /**
   * For the rows of table {@code table}, of {@code width} weights.
   *
   * @param line the first line
   * @throws IllegalArgumentException if it lacks a column, or has others
   */
  static NamedLines of(String line, Checkpoint checkpoint, int table, int width) {
    List<String> names = List.of(line.split("\t", -1));
    List<String> weights = RowNames.of(checkpoint, width);
    List<String> others = new ArrayList<>(names);
    others.remove(RowNames.ID);
    others.remove(RowNames.VALUE);
    List<String> missing = weights.stream().filter(name -> !others.remove(name)).toList();
    if (!missing.isEmpty() || !others.isEmpty()) {
      throw new IllegalArgumentException(
          missing.isEmpty() ? "the columns " + others + " too" : "no columns " + missing);
    }
    return new NamedLines(new RowValues(checkpoint, table), names, weights);
  }

  int columns() {
    return columns;
  }

  /** Writes the weights of a line to {@code row}; throws what {@link Float#parseFloat} does. */
  void weights(String[] fields, float[] row) {
    for (int j = 0; j < row.length; j++) {
      row[j] = Float.parseFloat(fields[weights[j]]);
    }
  }

  /**
   * The id of a line.
   *
   * @throws IllegalArgumentException that says what is wrong with it
   */
  long id(String[] fields) {
    String text = value < 0 ? "" : RowValues.unescaped(fields[value]);
    if (text.isEmpty() && id < 0) {
      throw new IllegalArgumentException("neither an id nor a value");
    }
    if (text.isEmpty()) {
      return ImportedRows.id(fields[id]);
    }
    long found = values.id(text);
    if (id >= 0 && !fields[id].isEmpty() && ImportedRows.id(fields[id]) != found) {
      throw new IllegalArgumentException(
          "the id %s of the value %s, which has the id %d".formatted(fields[id], text, found));
    }
    return found;
  }
}
