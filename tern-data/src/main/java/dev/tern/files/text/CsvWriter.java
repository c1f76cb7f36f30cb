package dev.tern.files.text;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.DataWriter;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.RecordBuffer;
import dev.tern.internal.files.TextOutput;
import dev.tern.internal.files.WriterChecks;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes rows as CSV: a line of names, then labels, dense numbers and slots of each row. {@link
 * dev.tern.files.Columns#of} reads them back to the same bits.
 *
 * <p>Numbers have the fewest digits that read back to the same float, NaN is an empty field, ids
 * are decimals; ids of a slot that may hold several are joined by {@link SparseColumn#SEPARATOR}.
 */
public final class CsvWriter implements DataWriter {
  private final Path file;
  private final Schema schema;
  private final TextOutput out;
  private final RecordBuffer text;
  private final char delimiter;
  private final boolean[] single;
  private final boolean[] unsigned;
  private long rows;

  private CsvWriter(Path file, Schema schema, char delimiter) {
    this.file = file;
    this.schema = schema;
    this.delimiter = delimiter;
    single = new boolean[schema.slotCount()];
    unsigned = new boolean[schema.slotCount()];
    for (int s = 0; s < single.length; s++) {
      single[s] = schema.slots().get(s).hotness() == 1;
      unsigned[s] = schema.slots().get(s).unsigned();
    }
    out = TextOutput.create(file);
    text = out.text();
    putHeader();
  }

  /**
   * Starts a file of {@code schema}, compressed by gzip where its name ends in {@code .gz}; {@code
   * options} give its delimiter.
   */
  public static CsvWriter create(Path file, Schema schema, CsvOptions options) {
    String delimiter = options.delimiter();
    if (delimiter.equals(SparseColumn.SEPARATOR)
        || delimiter.length() != 1
        || delimiter.charAt(0) >= 128) {
      throw new IllegalArgumentException(
          ("%s: got the delimiter %s, expected one ASCII character that does not separate the ids"
                  + " of one field, such as ','")
              .formatted(file, delimiter));
    }
    WriterChecks.requireUnweighted(file, schema, "csv");
    return new CsvWriter(file, schema, delimiter.charAt(0));
  }

  private void putHeader() {
    List<String> names = new ArrayList<>(schema.labels());
    names.addAll(schema.dense());
    names.addAll(schema.slots().stream().map(Slot::name).toList());
    for (int i = 0; i < names.size(); i++) {
      if (i > 0) {
        text.putByte(delimiter);
      }
      String quoted = '"' + names.get(i).replace("\"", "\"\"") + '"';
      text.putBytes(
          (isPlain(names.get(i)) ? names.get(i) : quoted).getBytes(StandardCharsets.UTF_8));
    }
    text.putByte('\n');
  }

  private boolean isPlain(String name) {
    return !name.isEmpty()
        && name.equals(name.strip())
        && name.chars().noneMatch(c -> c == '"' || c == '\n' || c == '\r' || c == delimiter)
        && name.charAt(0) != '\uFEFF';
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public void write(Batch batch) {
    WriterChecks.requireSameShape(schema, batch);
    for (int row = 0; row < batch.size(); row++) {
      int start = text.size();
      putRow(batch, row);
      if (text.size() == start) {
        text.putAscii("\"\"");
      }
      out.endLine();
      rows++;
    }
  }

  private void putRow(Batch batch, int row) {
    int labels = schema.labelDim();
    int dense = schema.denseDim();
    for (int i = 0; i < labels; i++) {
      putDelimiter(i);
      putFloat(batch.labels()[row * labels + i]);
    }
    for (int i = 0; i < dense; i++) {
      putDelimiter(labels + i);
      putFloat(batch.dense()[row * dense + i]);
    }
    for (int slot = 0; slot < single.length; slot++) {
      putDelimiter(labels + dense + slot);
      putIds(batch, row, slot);
    }
  }

  private void putDelimiter(int column) {
    if (column > 0) {
      text.putByte(delimiter);
    }
  }

  private void putFloat(float value) {
    if (!Float.isNaN(value)) {
      text.putNumber(value);
    }
  }

  private void putIds(Batch batch, int row, int slot) {
    int from = batch.offsets(slot)[row];
    int to = batch.offsets(slot)[row + 1];
    if (single[slot] && to - from != 1) {
      throw WriterChecks.badHotness(file, rows, schema.slots().get(slot), to - from);
    }
    for (int i = from; i < to; i++) {
      if (i > from) {
        text.putByte(SparseColumn.SEPARATOR.charAt(0));
      }
      if (unsigned[slot]) {
        text.putUnsigned(batch.ids(slot)[i]);
      } else {
        text.putDecimal(batch.ids(slot)[i]);
      }
    }
  }

  @Override
  public void finish() {
    out.finish();
  }

  @Override
  public void close() {
    out.close();
  }
}
