package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import java.util.Arrays;

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
    Schema all = new Schema(got.labels(), schema.dense(), schema.slots(), got.weight());
    return all.equals(got) ? source : new MappedReader(source, all, map(got, schema));
  }

  /** From rows of {@code got} to rows with the numbers and slots of {@code schema}. */
  static AllColumns map(Schema got, Schema schema) {
    int[] dense = schema.dense().stream().mapToInt(got.dense()::indexOf).toArray();
    int[] slots = schema.slotNames().stream().mapToInt(got.slotNames()::indexOf).toArray();
    return new AllColumns(dense, slots);
  }

  @Override
  public void apply(Batch from, Batch to) {
    int rows = from.size();
    int numbers = from.schema().denseDim();
    to.resize(rows);
    System.arraycopy(from.labels(), 0, to.labels(), 0, rows * from.schema().labelDim());
    System.arraycopy(from.rowWeights(), 0, to.rowWeights(), 0, to.schema().weighted() ? rows : 0);
    for (int row = 0; row < rows; row++) {
      for (int f = 0; f < dense.length; f++) {
        boolean absent = dense[f] == ABSENT;
        to.dense()[row * dense.length + f] =
            absent ? Float.NaN : from.dense()[row * numbers + dense[f]];
      }
    }
    for (int s = 0; s < slots.length; s++) {
      if (slots[s] == ABSENT) {
        Arrays.fill(to.offsets(s), 0, rows + 1, 0);
      } else {
        SlotIds.copy(from, slots[s], to, s, rows);
      }
    }
  }
}
