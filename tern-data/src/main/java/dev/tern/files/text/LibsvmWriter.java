package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.files.DataWriter;
import dev.tern.internal.files.RecordBuffer;
import dev.tern.internal.files.TextOutput;
import dev.tern.internal.files.WriterChecks;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Writes rows as LIBSVM or LIBFFM do: the label, then features that are not 0. {@link LibsvmReader}
 * with the same options reads them back to the same bits, but that ids without fields, which stand
 * in ascending order as LIBSVM wants them, lose the order they had.
 *
 * <p>Numbers have the fewest digits that read back to the same float, a missing one is {@code nan},
 * ids are unsigned decimals with the value 1 or, in a slot with weights, their weight; an id with
 * the weight 0 is left out, as readers take it. What the notation cannot hold is refused: without
 * fields an id that a row has twice, or that is the number of a dense column.
 */
public final class LibsvmWriter implements DataWriter {
  private static final byte[] ONE = {':', '1'};

  private final Path file;
  private final Schema schema;
  private final LibsvmOptions options;
  private final LibsvmColumns columns;
  private final TextOutput out;
  private final RecordBuffer text;

  /** Dense columns by the number of their features. */
  private final int[] order;

  private long[] sorted = new long[64];
  private float[] sortedWeights = new float[64];
  private long rows;

  private LibsvmWriter(Path file, Schema schema, LibsvmOptions options) {
    this.file = file;
    this.schema = schema;
    this.options = options;
    columns = new LibsvmColumns(schema, options);
    order =
        IntStream.range(0, schema.denseDim())
            .boxed()
            .sorted(
                (a, b) -> Long.compareUnsigned(columns.denseFeatures[a], columns.denseFeatures[b]))
            .mapToInt(i -> i)
            .toArray();
    out = TextOutput.create(file);
    text = out.text();
  }

  /**
   * Starts a file of {@code schema}, whose columns have numbers as {@code options} say, compressed
   * by gzip where its name ends in {@code .gz}.
   *
   * @throws IllegalArgumentException where the notation cannot hold the columns
   */
  public static LibsvmWriter create(Path file, Schema schema, LibsvmOptions options) {
    if (schema.labelDim() != 1) {
      throw new IllegalArgumentException(
          "%s: got %s labels, expected one a row; write another format"
              .formatted(options.notation(), schema.labelDim()));
    }
    return new LibsvmWriter(file, schema, options);
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public void write(Batch batch) {
    WriterChecks.requireSameShape(schema, batch);
    for (int row = 0; row < batch.size(); row++) {
      putLabel(batch.labels()[row]);
      if (options.fields()) {
        putFields(batch, row);
      } else {
        putFeatures(batch, row);
      }
      out.endLine();
      rows++;
    }
  }

  private void putLabel(float label) {
    if (!Float.isFinite(label)) {
      throw fault("got label %s, expected a finite number; mend the data".formatted(label));
    }
    text.putNumber(label);
  }

  private void putFields(Batch batch, int row) {
    for (int i = 0; i < order.length; i++) {
      putDense(batch, row, i);
    }
    for (int slot = 0; slot < columns.slotFields.length; slot++) {
      long[] ids = batch.ids(slot);
      int place = columns.field(columns.slotFields[slot]);
      int to = batch.offsets(slot)[row + 1];
      for (int i = batch.offsets(slot)[row]; i < to; i++) {
        if (weight(batch, slot, i) == 0) {
          continue;
        }
        int dense = columns.dense(place, ids[i]);
        if (dense >= 0) {
          throw taken(ids[i], dense, "give the column a field of its own");
        }
        text.putByte(' ');
        text.putUnsigned(columns.slotFields[slot]);
        text.putByte(':');
        text.putUnsigned(ids[i]);
        putWeight(weight(batch, slot, i));
      }
    }
  }

  private static float weight(Batch batch, int slot, int position) {
    float[] weights = batch.weights(slot);
    return weights.length == 0 ? 1 : weights[position];
  }

  private void putWeight(float weight) {
    if (weight == 1) {
      text.putBytes(ONE);
    } else {
      text.putByte(':');
      text.putNumber(weight);
    }
  }

  private void putDense(Batch batch, int row, int column) {
    float value = batch.dense()[row * order.length + column];
    if (Float.floatToRawIntBits(value) == 0) {
      return;
    }
    text.putByte(' ');
    if (options.fields()) {
      text.putUnsigned(columns.denseFields[column]);
      text.putByte(':');
    }
    text.putUnsigned(columns.denseFeatures[column]);
    text.putByte(':');
    if (Float.isNaN(value)) {
      text.putAscii("nan");
    } else {
      text.putNumber(value);
    }
  }

  /** Puts query, dense numbers and ids, the last two together in ascending order. */
  private void putFeatures(Batch batch, int row) {
    int count = 0;
    for (int slot = 0; slot < columns.slotFields.length; slot++) {
      if (slot == columns.query) {
        putQuery(batch, row, slot);
      } else {
        count = sort(batch, row, slot);
      }
    }
    int dense = 0;
    for (int i = 0; i < count; i++) {
      long id = sorted[i] ^ Long.MIN_VALUE;
      if (i > 0 && sorted[i] == sorted[i - 1]) {
        throw fault(
            "got the id %s twice, expected each once; write libffm, which can hold it"
                .formatted(Long.toUnsignedString(id)));
      }
      for (; dense < order.length && feature(dense) <= sorted[i]; dense++) {
        if (feature(dense) == sorted[i]) {
          throw taken(id, order[dense], "write libffm, which has fields to tell them apart");
        }
        putDense(batch, row, order[dense]);
      }
      if (sortedWeights[i] != 0) {
        text.putByte(' ');
        text.putUnsigned(id);
        putWeight(sortedWeights[i]);
      }
    }
    for (; dense < order.length; dense++) {
      putDense(batch, row, order[dense]);
    }
  }

  private void putQuery(Batch batch, int row, int slot) {
    int from = batch.offsets(slot)[row];
    int count = batch.offsets(slot)[row + 1] - from;
    if (count > 1) {
      throw fault("got " + count + " ids of the query, expected at most one; mend the data");
    }
    if (count == 1) {
      text.putAscii(" qid:");
      text.putUnsigned(batch.ids(slot)[from]);
    }
  }

  /** Sorts the row's ids of a slot as unsigned numbers, which flipping the sign does. */
  private int sort(Batch batch, int row, int slot) {
    int from = batch.offsets(slot)[row];
    int count = batch.offsets(slot)[row + 1] - from;
    if (sorted.length < count) {
      sorted = new long[2 * count];
      sortedWeights = new float[2 * count];
    }
    long[] ids = batch.ids(slot);
    for (int i = 0; i < count; i++) {
      sorted[i] = ids[from + i] ^ Long.MIN_VALUE;
    }
    Arrays.sort(sorted, 0, count);
    for (int i = 0; i < count; i++) {
      int place = Arrays.binarySearch(sorted, 0, count, ids[from + i] ^ Long.MIN_VALUE);
      sortedWeights[place] = weight(batch, slot, from + i);
    }
    return count;
  }

  /** The feature of a dense column by its place in the order, in the form of {@link #sorted}. */
  private long feature(int place) {
    return columns.denseFeatures[order[place]] ^ Long.MIN_VALUE;
  }

  private DataException taken(long id, int dense, String advice) {
    return fault(
        "got the id %s, the number of the dense column %s, expected another; %s"
            .formatted(Long.toUnsignedString(id), schema.dense().get(dense), advice));
  }

  private DataException fault(String message) {
    return new DataException("%s: row %s: %s".formatted(file, rows + 1, message));
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
