package dev.tern.data.readers;

import dev.tern.data.Batch;

/** The ids of a slot in all rows of a batch. */
final class SlotIds {
  private SlotIds() {}

  /** Copies the ids of {@code rows} rows, with their weights. */
  static void copy(Batch from, int fromSlot, Batch to, int toSlot, int rows) {
    int[] offsets = from.offsets(fromSlot);
    int ids = offsets[rows];
    System.arraycopy(from.ids(fromSlot), 0, to.ensureIds(toSlot, ids), 0, ids);
    System.arraycopy(offsets, 0, to.offsets(toSlot), 0, rows + 1);
    if (from.schema().slots().get(fromSlot).weighted()) {
      System.arraycopy(from.weights(fromSlot), 0, to.ensureWeights(toSlot, ids), 0, ids);
    }
  }
}
