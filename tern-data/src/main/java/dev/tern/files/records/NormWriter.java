package dev.tern.files.records;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.files.DataWriter;
import dev.tern.files.KeyType;
import dev.tern.internal.files.OutputFile;
import dev.tern.internal.files.RecordBuffer;
import dev.tern.internal.files.WriterChecks;
import java.nio.file.Path;

/**
 * Writes one HugeCTR Norm file: labels, dense numbers (NaN where missing) and slots of any number
 * of keys, as HugeCTR and {@link NormReader} read them. The number of records is put into the
 * header when the file is finished.
 */
public final class NormWriter implements DataWriter {
  private static final int FLUSH = 1 << 20;

  private final Path file;
  private final Schema schema;
  private final NormCheck check;
  private final KeyType keys;
  private final OutputFile out;
  private final RecordBuffer buffer = new RecordBuffer();
  private long records;

  private NormWriter(Path file, Schema schema, NormCheck check, KeyType keys) {
    this.file = file;
    this.schema = schema;
    this.check = check;
    this.keys = keys;
    out = OutputFile.create(file);
    header().put(buffer);
  }

  /** Starts a file of {@code schema} with keys of type U32 or I64. */
  public static NormWriter create(Path file, Schema schema, NormCheck check, KeyType keys) {
    if (keys == KeyType.I32) {
      throw new IllegalArgumentException("norm: got keys I32, expected U32 or I64");
    }
    WriterChecks.requireUnweighted(file, schema, "norm");
    return new NormWriter(file, schema, check, keys);
  }

  private NormHeader header() {
    return new NormHeader(check, records, schema.labelDim(), schema.denseDim(), schema.slotCount());
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public void write(Batch batch) {
    WriterChecks.requireSameShape(schema, batch);
    for (int row = 0; row < batch.size(); row++) {
      int start = buffer.size();
      if (check == NormCheck.SUM) {
        buffer.putInt(0);
        putRecord(batch, row);
        buffer.setInt(start, buffer.size() - start - 4);
        buffer.putByte(buffer.sum(start + 4));
      } else {
        putRecord(batch, row);
      }
      records++;
      if (buffer.size() > FLUSH) {
        out.write(buffer);
      }
    }
  }

  private void putRecord(Batch batch, int row) {
    int labels = schema.labelDim();
    for (int i = 0; i < labels; i++) {
      buffer.putFloat(batch.labels()[row * labels + i]);
    }
    int dense = schema.denseDim();
    for (int i = 0; i < dense; i++) {
      buffer.putFloat(batch.dense()[row * dense + i]);
    }
    for (int slot = 0; slot < schema.slotCount(); slot++) {
      int from = batch.offsets(slot)[row];
      int to = batch.offsets(slot)[row + 1];
      long[] ids = batch.ids(slot);
      buffer.putInt(to - from);
      for (int i = from; i < to; i++) {
        if (!keys.holds(ids[i])) {
          throw WriterChecks.badKey(file, records, schema.slots().get(slot), ids[i], keys);
        }
        buffer.putKey(keys, ids[i]);
      }
    }
  }

  @Override
  public void finish() {
    out.write(buffer);
    header().put(buffer);
    out.patch(0, buffer);
    out.finish();
  }

  @Override
  public void close() {
    out.close();
  }
}
