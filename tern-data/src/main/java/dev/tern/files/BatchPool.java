package dev.tern.files;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import java.util.ArrayDeque;

/** Recycled batches of one schema. Thread-safe: a batch may come back from another thread. */
final class BatchPool {
  private static final int ROWS = 4096;
  private static final int NUMBERS = 4 << 20;

  private final Schema schema;
  private final int rows;
  private final ArrayDeque<Batch> free = new ArrayDeque<>();

  /** Batches for a data set of at most {@code rowCount} rows. */
  BatchPool(Schema schema, long rowCount) {
    this.schema = schema;
    long perRow = (long) schema.labelDim() + schema.denseDim();
    for (int s = 0; s < schema.slotCount(); s++) {
      perRow += 1L + Math.max(1, schema.slots().get(s).hotness());
    }
    rows = Math.clamp(Math.min(rowCount, NUMBERS / Math.max(1, perRow)), 1, ROWS);
  }

  /** Rows a batch is filled with: fewer where rows are very wide or few. */
  int rows() {
    return rows;
  }

  /** An empty batch; closing it brings it back. */
  synchronized Batch take() {
    Batch batch = free.poll();
    if (batch == null) {
      return new Lent().batch;
    }
    batch.clear();
    return batch;
  }

  private synchronized void giveBack(Batch batch) {
    if (!free.contains(batch)) {
      free.push(batch);
    }
  }

  /** Ties a batch to its way back. */
  private final class Lent {
    private final Batch batch = new Batch(schema, rows, this::close);

    private void close() {
      giveBack(batch);
    }
  }
}
