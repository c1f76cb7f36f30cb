package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;

/**
 * Rows with columns that their source may lack. See {@link Readers#withColumns}.
 *
 * @param dense of each number its place in the source, or {@link #ABSENT}
 * @param slots of each slot the same
 */
record AllColumns(int[] dense, int[] slots) implements BatchMap {
  private static final int ABSENT = -1;

  static DataReader of(DataReader source, Schema schema) {
    Schema got = source.schema();
    Schema all = new Schema(got.labels(), schema.dense(), schema.slots());
    int[] dense = schema.dense().stream().mapToInt(got.dense()::indexOf).toArray();
    int[] slots = schema.slotNames().stream().mapToInt(got.slotNames()::indexOf).toArray();
    return all.equals(got) ? source : new MappedReader(source, all, new AllColumns(dense, slots));
  }

  @Override
  public void apply(Batch from, Batch to) {
    int labels = from.schema().labelDim();
    int numbers = from.schema().denseDim();
    for (int row = 0; row < from.size(); row++) {
      for (int label = 0; label < labels; label++) {
        to.setLabel(label, from.labels()[row * labels + label]);
      }
      for (int f = 0; f < dense.length; f++) {
        boolean absent = dense[f] == ABSENT;
        to.setDense(f, absent ? Float.NaN : from.dense()[row * numbers + dense[f]]);
      }
      for (int s = 0; s < slots.length; s++) {
        if (slots[s] != ABSENT) {
          copy(from, row, slots[s], to, s);
        }
      }
      to.endRow();
    }
  }

  private static void copy(Batch from, int row, int slot, Batch to, int toSlot) {
    int end = from.offsets(slot)[row + 1];
    boolean weighted = from.schema().slots().get(slot).weighted();
    for (int i = from.offsets(slot)[row]; i < end; i++) {
      if (weighted) {
        to.addId(toSlot, from.ids(slot)[i], from.weights(slot)[i]);
      } else {
        to.addId(toSlot, from.ids(slot)[i]);
      }
    }
  }
}
