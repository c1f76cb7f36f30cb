package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Keeps some labels, or makes one the weight of its row. See {@link Readers#withLabel} and {@link
 * Readers#weighted}.
 *
 * @param kept indices of the labels that are kept
 * @param weight index of the label that is the weight; -1 for none
 */
record PickedLabels(int[] kept, int weight) implements BatchMap {
  static DataReader one(DataReader source, String label) {
    Schema all = source.schema();
    int index = index(source, "label", label);
    return all.labelDim() == 1
        ? source
        : new MappedReader(
            source, all.withLabels(List.of(label)), new PickedLabels(new int[] {index}, -1));
  }

  static DataReader weighted(DataReader source, String label) {
    Schema all = source.schema();
    if (all.weighted()) {
      throw new IllegalArgumentException(
          "weight: got the column %s for rows that have the weights %s, expected one column"
              .formatted(label, all.weight().orElseThrow()));
    }
    int index = index(source, "weight", label);
    List<String> names = new ArrayList<>(all.labels());
    names.remove(index);
    int[] kept = new int[names.size()];
    for (int i = 0; i < kept.length; i++) {
      kept[i] = i < index ? i : i + 1;
    }
    Schema schema = all.withLabels(names).withWeight(Optional.of(label));
    return new MappedReader(source, schema, new PickedLabels(kept, index));
  }

  private static int index(DataReader source, String what, String label) {
    List<String> labels = source.schema().labels();
    int index = labels.indexOf(label);
    if (index < 0) {
      throw new IllegalArgumentException(
          "%s: got the name %s, expected one of %s; give one of them"
              .formatted(what, label, labels));
    }
    return index;
  }

  @Override
  public void apply(Batch from, Batch to) {
    int rows = from.size();
    int labels = from.schema().labelDim();
    to.resize(rows);
    for (int row = 0; row < rows; row++) {
      for (int i = 0; i < kept.length; i++) {
        to.labels()[row * kept.length + i] = from.labels()[row * labels + kept[i]];
      }
      if (to.schema().weighted()) {
        to.rowWeights()[row] =
            weight < 0 ? from.rowWeight(row) : weight(from.labels()[row * labels + weight]);
      }
    }
    System.arraycopy(from.dense(), 0, to.dense(), 0, rows * from.schema().denseDim());
    for (int s = 0; s < from.schema().slotCount(); s++) {
      SlotIds.copy(from, s, to, s, rows);
    }
  }

  private static float weight(float label) {
    if (!Batch.isRowWeight(label)) {
      throw new IllegalArgumentException(
          "got the weight %s, expected a finite number of 0 or more; mend the row"
              .formatted(label));
    }
    return label;
  }
}
