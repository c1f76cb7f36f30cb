package dev.tern.embedding;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;

/**
 * The row that all ids without one read as: zeros or the mean. Where each is to read as its initial
 * weights, it is zeros too, and the table puts the weights in afterwards.
 */
final class UnknownRows {
  /** Weights beyond this count as this in the mean. */
  private static final float LARGEST = 1024;

  private final TableConfig config;
  private final RowSlabs rows;
  private final Allocator allocator;
  private final long row;

  /** What the row holds the mean of. */
  private volatile Mean mean = new Mean(0, 0);

  private record Mean(int size, long version) {}

  UnknownRows(TableConfig config, RowSlabs rows, Allocator allocator) {
    this.config = config;
    this.rows = rows;
    this.allocator = allocator;
    row = allocator.allocate(bytes(), "table " + config.name() + " unknown row");
    Memory.zero(row, bytes());
  }

  long bytes() {
    return 4L * config.width();
  }

  /** The row that all unknown ids read as, for a table at {@code version}. */
  long address(long version) {
    if (config.unknown() == UnknownRow.MEAN) {
      Mean wanted = new Mean(rows.size(), version);
      if (!mean.equals(wanted)) {
        renew(wanted);
      }
    }
    return row;
  }

  private synchronized void renew(Mean wanted) {
    if (mean.equals(wanted)) {
      return;
    }
    int size = wanted.size();
    // Whole numbers add up to the same sum in any order, so the mean does not depend on the order
    // in which ids were met. The largest sum is size * LARGEST * scale < 2^63.
    double scale = Math.scalb(1.0, 20 + Integer.numberOfLeadingZeros(size));
    for (int j = 0; j < config.width(); j++) {
      long sum = 0;
      for (int i = 0; i < size; i++) {
        float w = Memory.getFloat(rows.address(i) + 4L * j);
        sum += Math.round(Math.clamp(w, -LARGEST, LARGEST) * scale);
      }
      Memory.setFloat(row + 4L * j, size == 0 ? 0 : (float) (sum / scale / size));
    }
    mean = wanted;
  }

  void free() {
    allocator.free(row);
  }
}
