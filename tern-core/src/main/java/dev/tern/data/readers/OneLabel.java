package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import java.util.List;

/**
 * Keeps one label of several. See {@link Readers#withLabel}.
 *
 * @param index of the label that is kept
 */
record OneLabel(int index) implements BatchMap {
  static DataReader of(DataReader source, String label) {
    Schema all = source.schema();
    int index = all.labels().indexOf(label);
    if (index < 0) {
      throw new IllegalArgumentException(
          "label: got the name %s, expected one of %s; give one of them"
              .formatted(label, all.labels()));
    }
    return all.labelDim() == 1
        ? source
        : new MappedReader(
            source, new Schema(List.of(label), all.dense(), all.slots()), new OneLabel(index));
  }

  @Override
  public void apply(Batch from, Batch to) {
    int rows = from.size();
    int labels = from.schema().labelDim();
    to.resize(rows);
    for (int row = 0; row < rows; row++) {
      to.labels()[row] = from.labels()[row * labels + index];
    }
    System.arraycopy(from.dense(), 0, to.dense(), 0, rows * from.schema().denseDim());
    for (int s = 0; s < from.schema().slotCount(); s++) {
      int count = from.idCount(s);
      System.arraycopy(from.ids(s), 0, to.ensureIds(s, count), 0, count);
      System.arraycopy(from.offsets(s), 0, to.offsets(s), 0, rows + 1);
    }
  }
}
