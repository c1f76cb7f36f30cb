package dev.tern.data.encode;

import dev.tern.base.Shown;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import java.util.Arrays;
import java.util.Optional;

/**
 * Fills raw batches from values by the number of their column, as a parser finds them: no object a
 * row or value. It takes what {@link FeatureEncoder#addRow} takes, by the same rules.
 *
 * <p>Row by row, columns in any order:
 *
 * <pre>{@code
 * RowFiller filler = encoder.filler();
 * filler.begin(raw);
 * filler.setNumber(filler.column("age"), 39);
 * filler.setText(filler.column("city"), "Oslo");
 * filler.endRow();
 * }</pre>
 *
 * Or column by column, where the number of rows is known: {@link #beginColumns}.
 *
 * <p>A value that a column does not take, and a second value of a column in a row, throw an {@link
 * IllegalArgumentException} that names row and column and shows 64 characters of the value at most.
 * The row is to be abandoned then. One thread at a time.
 */
public final class RowFiller {
  private static final String NUMBER = "a number, or nothing where it is missing";
  private static final String INTEGER = "an integer of 64 bits";

  private final RowRoles columns;
  private final Optional<RawFields> fields;
  private final Schema schema;
  private final RowCells cells;
  private final RowTimes times;
  private final TextBytes bytes = new TextBytes();

  /** By column the fill that gave it last. */
  private final long[] given;

  /** Rows filled so far, and batches that were filled by column. */
  private long fill = 1;

  /** By column, whether one value is for all rows. */
  private final boolean[] repeated;

  private boolean saysRow = true;
  private int list = -1;
  private int listStart;

  RowFiller(RowRoles columns, Optional<RawFields> fields) {
    this.columns = columns;
    this.fields = fields;
    schema = columns.schema;
    cells = new RowCells(schema);
    times = new RowTimes(columns.sources.size());
    given = new long[columns.count()];
    repeated = new boolean[given.length];
  }

  /** The number of a column, of labels, weights of rows and times too; -1 if there is none. */
  public int column(String name) {
    return columns.find(name);
  }

  /** As {@link #column(String)}, without a text for the name. */
  public int column(char[] name, int from, int to) {
    return columns.find(name, from, to);
  }

  /** How many columns there are. */
  public int columns() {
    return columns.count();
  }

  /** The name of a column. */
  public String name(int column) {
    return columns.name(column);
  }

  /** The number of the slot of {@link FeatureEncoder#rawSchema} that a column is, or -1. */
  public int slot(int column) {
    return columns.slot[column];
  }

  /** Whether a column takes texts: a slot of texts, or times. */
  public boolean takesTexts(int column) {
    int slot = columns.slot[column];
    return slot >= 0 ? columns.text[slot] : columns.time[column] >= 0;
  }

  /**
   * Whether a column is a value that rows have perhaps several of: a slot, but for one-hot ones.
   */
  public boolean takesLists(int column) {
    int slot = columns.slot[column];
    return slot >= 0 && columns.hotness[slot] != 1;
  }

  /** Whether the values of a slot have weights. */
  public boolean isWeighted(int column) {
    int slot = columns.slot[column];
    return slot >= 0 && cells.hasWeights(slot);
  }

  /** Whether the ids of a slot are unsigned. */
  public boolean isUnsigned(int column) {
    int slot = columns.slot[column];
    return slot >= 0 && schema.slots().get(slot).unsigned();
  }

  /** The row at hand and a column, for errors: {@code row 1, column age}. */
  public String place(int column) {
    return place() + "column " + Shown.line(columns.name(column));
  }

  /** The row at hand, for errors, with a comma behind it. */
  public String place() {
    return saysRow ? "row " + (cells.row() + 1) + ", " : "";
  }

  /** Rows from here on are appended to {@code batch}, of {@link FeatureEncoder#rawSchema}. */
  public void begin(Batch batch) {
    take(batch);
    cells.append(batch);
  }

  /** As {@link #begin}, for a row that is alone: errors do not say its number. */
  void beginAlone(Batch batch) {
    begin(batch);
    saysRow = false;
  }

  /**
   * Replaces the rows of {@code batch}, of {@link FeatureEncoder#rawSchema}, by {@code rows} others
   * that are filled column by column: {@link #beginColumn}, a value for each row, {@link
   * #endColumn}, and so on. {@link #endColumns} ends them; columns left out are missing.
   */
  public void beginColumns(Batch batch, int rows) {
    take(batch);
    cells.replace(batch, rows);
  }

  /** Lets go of the batch. */
  void release() {
    cells.release();
    list = -1;
    fill++;
  }

  private void take(Batch batch) {
    if (batch.schema() != schema && !batch.schema().equals(schema)) {
      throw new IllegalArgumentException(
          "row: got a batch of %s to fill, expected %s".formatted(batch.schema(), schema));
    }
    saysRow = true;
    list = -1;
    fill++;
    Arrays.fill(repeated, false);
  }

  /** Values from here on are those of a column, from the first row on. */
  public void beginColumn(int column) {
    cells.beginColumn(columns.slot[column]);
    claim(column);
  }

  /** Ends a column, which must have a value for each row, if only a missing one. */
  public void endColumn(int column) {
    if (cells.row() != cells.rows()) {
      throw unequal(column, cells.row() + " values");
    }
  }

  private void claim(int column) {
    if (given[column] == fill || repeated[column]) {
      throw wrong(column, "it twice", "it once; leave one out");
    }
    given[column] = fill;
  }

  private void begin(int column) {
    if (!cells.byColumn()) {
      claim(column);
    } else if (cells.row() >= cells.rows()) {
      throw unequal(column, "more values");
    }
  }

  private void end(int column) {
    if (cells.byColumn()) {
      cells.nextRow(columns.slot[column]);
    }
  }

  /** Sets a number, or a time in seconds; NaN is a missing one. */
  public void setNumber(int column, double value) {
    begin(column);
    if (columns.isPlain[column] && columns.dense[column] >= 0) {
      cells.setDense(columns.dense[column], (float) value);
      end(column);
      return;
    }
    if (columns.slot[column] >= 0) {
      throw wrong(column, value, columns.text[columns.slot[column]] ? "a text" : INTEGER);
    }
    number(column, (float) value);
    if (columns.time[column] >= 0) {
      if (Double.isNaN(value)) {
        times.setMissing(columns.time[column], timeRow());
      } else {
        times.set(columns.time[column], timeRow(), TimeParser.ofNumber(value), value);
      }
    }
    end(column);
  }

  /** Sets an integer: an id, the decimal text of an id, a number, or a time in seconds. */
  public void setInteger(int column, long value) {
    begin(column);
    if (columns.isId[column]) {
      addInteger(columns.slot[column], value);
      end(column);
      return;
    }
    number(column, (float) value);
    int slot = columns.slot[column];
    if (slot >= 0) {
      requireSingle(column, slot, value);
      addInteger(slot, value);
    }
    if (columns.time[column] >= 0) {
      times.set(columns.time[column], timeRow(), TimeParser.ofNumber(value), value);
    }
    end(column);
  }

  /** Sets a time in microseconds; where it is none, {@code got} is what was there. */
  void setTime(int column, long micros, Object got) {
    begin(column);
    times.set(columns.time[column], timeRow(), micros, got);
    end(column);
  }

  /** Sets a text: a field of a file, where {@link FeatureEncoder#reading} is known. */
  public void setText(int column, String value) {
    bytes.set(value);
    text(column);
  }

  /** As {@link #setText(int, String)}; half of a pair of surrogates is an error. */
  public void setText(int column, char[] text, int from, int to) {
    requireWhole(column, bytes.set(text, from, to));
    text(column);
  }

  /** As {@link #setText(int, String)}, of UTF-8, which is not checked. */
  public void setText(int column, byte[] utf8, int from, int to) {
    bytes.set(utf8, from, to);
    text(column);
  }

  private void requireWhole(int column, boolean whole) {
    if (!whole) {
      throw wrong(column, "half of a pair of surrogates in " + bytes.shown(), "Unicode text");
    }
  }

  private void text(int column) {
    begin(column);
    if (columns.isNumber[column]) {
      throw wrong(column, bytes.shown(), NUMBER);
    }
    int slot = columns.slot[column];
    if (slot >= 0) {
      requireSingle(column, slot, bytes);
      if (fields.isEmpty()) {
        addText(column, slot);
      } else if (!fields.get().add(bytes, slot, columns.text[slot], cells)) {
        throw wrong(column, bytes.shown(), "integers of 64 bits");
      }
    }
    if (columns.time[column] >= 0) {
      times.setText(columns.time[column], timeRow(), bytes, fields);
    }
    end(column);
  }

  /** Sets that a column is missing, as it is where it is left out. */
  public void setMissing(int column) {
    begin(column);
    missing(column);
    if (columns.time[column] >= 0) {
      times.setMissing(columns.time[column], timeRow());
    }
    end(column);
  }

  /**
   * Sets a slot to the values that follow until {@link #endList}: {@link #addInteger}, {@link
   * #addText}, {@link #addKey}, behind each perhaps {@link #addWeight}.
   */
  public void beginList(int column) {
    begin(column);
    if (columns.slot[column] < 0 || columns.isNumber[column]) {
      throw wrong(column, "a list", columns.isNumber[column] ? NUMBER : RowTimes.EXPECTED);
    }
    list = column;
    listStart = cells.end(columns.slot[column]);
  }

  /** Adds an integer to the list. */
  public void addInteger(long value) {
    addInteger(columns.slot[list], value);
  }

  /** Adds a text to the list, as it stands. */
  public void addText(String value) {
    bytes.set(value);
    addText(list, columns.slot[list]);
  }

  /** As {@link #addText(String)}; half of a pair of surrogates is an error. */
  public void addText(char[] text, int from, int to) {
    requireWhole(list, bytes.set(text, from, to));
    addText(list, columns.slot[list]);
  }

  /** As {@link #addText(String)}, of UTF-8, which is not checked. */
  public void addText(byte[] utf8, int from, int to) {
    bytes.set(utf8, from, to);
    addText(list, columns.slot[list]);
  }

  /** Adds a text; to a slot of integers the integer that the text is. */
  public void addKey(String key) {
    requireWhole(list, bytes.set(key));
    int slot = columns.slot[list];
    if (columns.text[slot]) {
      addText(list, slot);
    } else if (!RawFields.addInteger(bytes, bytes.from(), bytes.to(), slot, cells)) {
      throw wrong(list, bytes.shown(), INTEGER);
    }
  }

  /** Gives the value added last a finite weight, which is 1 otherwise. */
  public void addWeight(double weight) {
    int slot = columns.slot[list];
    float value = (float) weight;
    if (!cells.hasWeights(slot) || !Float.isFinite(value)) {
      boolean has = cells.hasWeights(slot);
      throw wrong(list, "the weight " + value, has ? "a finite number" : "values without weights");
    }
    cells.weigh(slot, value);
  }

  /** Ends the list. */
  public void endList() {
    int column = list;
    int hotness = columns.hotness[columns.slot[column]];
    int count = cells.end(columns.slot[column]) - listStart;
    if (hotness > 0 && count != hotness) {
      String expected = hotness == 1 ? "one value" : hotness + " values";
      throw wrong(column, "a list of " + count, expected);
    }
    if (columns.time[column] >= 0) {
      times.set(columns.time[column], timeRow(), TimeParser.NONE, "a list");
    }
    list = -1;
    end(column);
  }

  /**
   * Sets a whole column to numbers, of which NaN is a missing one. Only by column.
   *
   * @param values little-endian, one for each row, from byte {@code from} on
   */
  public void setNumbers(int column, byte[] values, int from) {
    beginColumn(column);
    int f = columns.dense[column];
    if (f >= 0 && columns.isPlain[column]) {
      cells.fillDense(f, values, from);
      return;
    }
    for (int row = 0; row < cells.rows(); row++) {
      setNumber(column, (float) RowCells.FLOAT.get(values, from + 4 * row));
    }
  }

  /** As {@link #setNumbers}, of integers of 64 bits as {@link #setInteger} takes them. */
  public void setIntegers(int column, byte[] values, int from) {
    beginColumn(column);
    if (columns.isId[column]) {
      int slot = columns.slot[column];
      cells.fillIds(slot, columns.text[slot], values, from);
      return;
    }
    for (int row = 0; row < cells.rows(); row++) {
      setInteger(column, (long) RowCells.LONG.get(values, from + 8 * row));
    }
  }

  private void number(int column, float value) {
    if (columns.dense[column] >= 0) {
      cells.setDense(columns.dense[column], value);
    }
    if (columns.label[column] >= 0) {
      cells.setLabel(columns.label[column], value);
    }
    if (columns.weight[column]) {
      if (!Batch.isRowWeight(value)) {
        throw wrong(column, "the weight " + value, "a finite number of 0 or more");
      }
      cells.setRowWeight(value);
    }
  }

  private void addText(int column, int slot) {
    if (!columns.text[slot]) {
      throw wrong(column, bytes.shown(), INTEGER);
    }
    cells.addId(slot, TextHash.of(bytes.array(), bytes.from(), bytes.to()));
  }

  private void addInteger(int slot, long value) {
    cells.addId(slot, columns.text[slot] ? TextHash.ofInteger(value) : value);
  }

  private void requireSingle(int column, int slot, Object value) {
    int hotness = columns.hotness[slot];
    if (hotness > 1) {
      Object got = value == bytes ? bytes.shown() : value;
      throw wrong(column, got, "a list of " + hotness + " values");
    }
  }

  private int timeRow() {
    return cells.byColumn() ? cells.row() : 0;
  }

  /** Ends the row: columns that have no value are missing. */
  public void endRow() {
    for (int column = 0; column < given.length; column++) {
      if (given[column] != fill) {
        leaveOut(column);
      }
    }
    cells.endRow();
    fill++;
  }

  /**
   * Ends a row whose values are for all rows of another filler, {@link #beginRepeated}. Columns
   * that it has not are left to that one's rows.
   */
  public void endOnce() {
    for (int column = 0; column < given.length; column++) {
      int source = columns.partOf[column];
      if (given[column] != fill && source >= 0 && given[columns.ofSource[source]] == fill) {
        part(column, source);
      }
    }
    cells.endRow();
    fill++;
  }

  /** Drops the row at hand. */
  public void abandonRow() {
    cells.append(cells.batch());
    list = -1;
    fill++;
  }

  /** Ends the rows that were filled by column. */
  public void endColumns() {
    for (int column = 0; column < given.length; column++) {
      if (given[column] != fill) {
        int slot = columns.slot[column];
        cells.beginColumn(slot);
        while (cells.row() < cells.rows()) {
          leaveOut(column);
          cells.nextRow(slot);
        }
      }
    }
    cells.endWeights();
  }

  /**
   * The values that a row of another filler of the same encoder has, which {@link #endOnce} ended
   * last, are those of all rows, which must not have these columns themselves. {@link #endRepeated}
   * copies them. Of rows it is called after {@link #begin}; of columns before {@link #endColumns}.
   */
  public void beginRepeated(RowFiller one) {
    for (int column = 0; column < repeated.length; column++) {
      repeated[column] = one.hadLast(column);
      if (repeated[column] && given[column] == fill) {
        throw new IllegalArgumentException(
            "column %s: got it twice, for all rows and for each, expected it once; leave one out"
                .formatted(Shown.line(name(column))));
      }
    }
  }

  /** Whether the row that ended last has a value in a column, if only a part of a time. */
  private boolean hadLast(int column) {
    int source = columns.partOf[column];
    return given[column] == fill - 1 || source >= 0 && given[columns.ofSource[source]] == fill - 1;
  }

  /**
   * Copies the columns that {@link #beginRepeated} told of to all rows, from the last row of {@code
   * one}.
   */
  public void endRepeated(Batch one) {
    for (int column = 0; column < repeated.length; column++) {
      if (repeated[column]) {
        cells.repeat(one, columns.dense[column], columns.slot[column]);
      }
    }
    cells.endWeights();
  }

  /** Sets what a column without a value is: missing, or a part of a time that the row has. */
  private void leaveOut(int column) {
    int source = columns.partOf[column];
    if (source >= 0 && given[columns.ofSource[source]] == fill) {
      part(column, source);
    } else if (!repeated[column]) {
      missing(column);
    }
  }

  private void missing(int column) {
    if (columns.isNumber[column] && !columns.weight[column]) {
      number(column, Float.NaN);
    }
    int slot = columns.slot[column];
    if (slot >= 0) {
      if (columns.hotness[slot] > 1) {
        throw wrong(column, "nothing", "a list of " + columns.hotness[slot] + " values");
      }
      if (columns.hotness[slot] == 1 && columns.text[slot]) {
        cells.addId(slot, TextHash.EMPTY);
      }
    }
  }

  private void part(int column, int source) {
    int row = timeRow();
    int slot = columns.slot[column];
    boolean missing = times.isMissing(source, row);
    if (!missing && times.isWrong(source, row)) {
      throw wrong(columns.ofSource[source], times.wrong(source), RowTimes.EXPECTED);
    }
    TimePart part = columns.part(column);
    if (columns.dense[column] >= 0) {
      float number = missing ? Float.NaN : part.number(times.get(source, row));
      cells.setDense(columns.dense[column], number);
    }
    if (slot >= 0 && !missing) {
      addInteger(slot, part.whole(times.get(source, row)));
    } else if (slot >= 0 && columns.text[slot]) {
      cells.addId(slot, TextHash.EMPTY);
    }
    if (columns.label[column] >= 0) {
      cells.setLabel(columns.label[column], Float.NaN);
    }
  }

  private IllegalArgumentException wrong(int column, Object got, String expected) {
    return new IllegalArgumentException(
        "%s: got %s, expected %s".formatted(place(column), got, expected));
  }

  private IllegalArgumentException unequal(int column, String got) {
    return new IllegalArgumentException(
        "column %s: got %s, expected %d, one for each row"
            .formatted(Shown.line(name(column)), got, cells.rows()));
  }
}
