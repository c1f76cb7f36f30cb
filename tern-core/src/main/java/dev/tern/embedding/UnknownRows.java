package dev.tern.embedding;

import dev.tern.internal.memory.Memory;

/**
 * The row that all ids without one read as: zeros or the mean. Where each is to read as its initial
 * weights, it is zeros too, and the table puts the weights in afterwards.
 */
final class UnknownRows {
  private static final int BLOCK = 256;

  /** Weights beyond this count as this in the mean. */
  private static final float LARGEST = 1024;

  private final TableConfig config;
  private final RowSlabs rows;
  private final long row;

  /** What the row holds the mean of. */
  private volatile Mean mean = new Mean(0, 0);

  private record Mean(int size, long version) {}

  /** With room for a row's weights at {@code row}. */
  UnknownRows(TableConfig config, RowSlabs rows, long row) {
    this.config = config;
    this.rows = rows;
    this.row = row;
    Memory.zero(row, config.weightBytes());
  }

  /** The row that all unknown ids read as, for a table of {@code size} rows at {@code version}. */
  long address(long size, long version) {
    if (config.unknown() == UnknownRow.MEAN) {
      Mean wanted = new Mean((int) size, version);
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
    long[] sums = new long[config.width()];
    // Rows given back are zeros.
    int end = rows.size();
    for (int from = 0; from < end; from += BLOCK) {
      int to = Math.min(end, from + BLOCK);
      for (int j = 0; j < sums.length; j++) {
        sums[j] += sum(from, to, j, scale);
      }
    }
    for (int j = 0; j < sums.length; j++) {
      float weight = size == 0 ? 0 : (float) (sums[j] / scale / size);
      ScalarHalves.set(config.storage(), row, j, weight);
    }
    mean = wanted;
  }

  private long sum(int from, int to, int column, double scale) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      float w = ScalarHalves.get(config.storage(), rows.address(i), column);
      sum += Math.round(Math.clamp(w, -LARGEST, LARGEST) * scale);
    }
    return sum;
  }
}
