package dev.tern.serve;

import dev.tern.data.encode.RowFiller;
import dev.tern.serve.wire.JsonValues;
import java.util.Arrays;

/**
 * The columns of rows as objects, whose names come in one order in most requests: a name that is
 * the very text that stood at its place in the row before needs no look-up. The parser has one text
 * for equal names.
 */
final class ColumnOrder {
  private String[] names = new String[64];
  private int[] columns = new int[64];
  private int place;

  /** The next name is the first one of a row. */
  void begin() {
    place = 0;
  }

  /** The column of the next name. */
  @SuppressWarnings("ReferenceEquality") // equal texts that are not the same are looked up
  int column(RowFiller filler, String name) {
    int at = place++;
    if (at == names.length) {
      names = Arrays.copyOf(names, 2 * at);
      columns = Arrays.copyOf(columns, 2 * at);
    }
    if (names[at] == name) {
      return columns[at];
    }
    int column = JsonValues.column(filler, name);
    names[at] = name;
    columns[at] = column;
    return column;
  }
}
