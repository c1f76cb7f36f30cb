package dev.tern.files.records;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.files.DataWriter;
import dev.tern.internal.files.OutputFile;
import dev.tern.internal.files.RecordBuffer;
import dev.tern.internal.files.WriterChecks;
import java.nio.file.Path;

/**
 * Writes a HugeCTR Raw file. Integer labels and dense numbers must be integers of 32 bits: {@link
 * RawOptions.Dense#INT_LOG} too writes x, of which ln(x + 1) is read.
 */
public final class RawWriter implements DataWriter {
  private static final int FLUSH = 1 << 20;

  private final Path file;
  private final RawOptions options;
  private final Schema schema;
  private final OutputFile out;
  private final RecordBuffer buffer = new RecordBuffer();
  private long rows;

  private RawWriter(Path file, RawOptions options) {
    this.file = file;
    this.options = options;
    schema = options.schema();
    out = OutputFile.create(file);
  }

  /** Starts a file; where {@link RawOptions#rows} is given, that many rows must be written. */
  public static RawWriter create(Path file, RawOptions options) {
    WriterChecks.requireUnweighted(file, options.schema(), "raw");
    return new RawWriter(file, options);
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public void write(Batch batch) {
    WriterChecks.requireSameShape(schema, batch);
    for (int row = 0; row < batch.size(); row++) {
      putRow(batch, row);
      rows++;
      if (buffer.size() > FLUSH) {
        out.write(buffer);
      }
    }
  }

  private void putRow(Batch batch, int row) {
    int labels = schema.labelDim();
    for (int i = 0; i < labels; i++) {
      float label = batch.labels()[row * labels + i];
      if (options.intLabels()) {
        buffer.putInt(integer(label, schema.labels().get(i), Integer.MIN_VALUE));
      } else {
        buffer.putFloat(label);
      }
    }
    int dense = schema.denseDim();
    for (int i = 0; i < dense; i++) {
      float number = batch.dense()[row * dense + i];
      switch (options.dense()) {
        case FLOAT -> buffer.putFloat(number);
        case INT -> buffer.putInt(integer(number, schema.dense().get(i), Integer.MIN_VALUE));
        case INT_LOG -> buffer.putInt(integer(number, schema.dense().get(i), 0));
      }
    }
    for (int slot = 0; slot < schema.slotCount(); slot++) {
      putKeys(batch, row, slot);
    }
  }

  private int integer(float value, String column, int min) {
    if ((int) value != value || value < min || value >= 0x1p31f) {
      throw new DataException(
          ("%s: row %s, column %s: got %s, expected an integer of 32 bits%s; write floats, or fill"
                  + " and round the column first")
              .formatted(file, rows + 1, column, value, min == 0 ? ", 0 or more" : ""));
    }
    return (int) value;
  }

  private void putKeys(Batch batch, int row, int slot) {
    int from = batch.offsets(slot)[row];
    int to = batch.offsets(slot)[row + 1];
    if (to - from != schema.slots().get(slot).hotness()) {
      throw WriterChecks.badHotness(file, rows, schema.slots().get(slot), to - from);
    }
    long[] ids = batch.ids(slot);
    for (int i = from; i < to; i++) {
      if (!options.keys().holds(ids[i])) {
        throw WriterChecks.badKey(file, rows, schema.slots().get(slot), ids[i], options.keys());
      }
      buffer.putKey(options.keys(), ids[i]);
    }
  }

  @Override
  public void finish() {
    if (options.rows().isPresent() && options.rows().getAsLong() != rows) {
      throw new IllegalStateException(
          "%s: got %s rows, expected %s; write them all or expect no number of rows"
              .formatted(file, rows, options.rows().getAsLong()));
    }
    out.write(buffer);
    out.finish();
  }

  @Override
  public void close() {
    out.close();
  }
}
