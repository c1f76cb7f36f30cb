package dev.tern.internal.table.rows;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Memory;
import java.util.Optional;

/**
 * What ids without a row read as: zeros, the mean of all rows, or the row of a bucket. Each lookup
 * gets its own copy of the mean. Ids that read as their initial weights get zeros here, and {@link
 * Pooling} adds the weights. Several threads may call it at once while no row changes.
 */
public final class FallbackRows {
  private static final int BLOCK = 256;

  /** Larger magnitudes count as this one in the mean. */
  private static final float LARGEST = 1024;

  private final TableConfig config;
  private final RowSlabs rows;
  private final RowReads loops;

  /** Address of a row of zeros, in room that the caller allocates. */
  private final long zeros;

  private final Optional<BucketRows> buckets;

  private volatile Mean mean;

  /** The mean of the {@code size} rows that a table had at {@code version}. */
  private record Mean(long size, long version, float[] weights) {
    boolean isOf(long otherSize, long otherVersion) {
      return size == otherSize && version == otherVersion;
    }
  }

  public FallbackRows(
      TableConfig config, RowSlabs rows, Optional<BucketRows> buckets, RowReads loops, long zeros) {
    this.config = config;
    this.rows = rows;
    this.buckets = buckets;
    this.loops = loops;
    this.zeros = zeros;
    mean = new Mean(0, 0, new float[config.width()]);
    Memory.zero(zeros, RowLayout.weightBytes(config));
  }

  /** Bytes that a table needs beside its rows: for a row of zeros, and for updates. */
  public static long spareBytes(TableConfig config) {
    return RowLayout.weightBytes(config) + RowUpdates.spareBytes(config);
  }

  /** Sums rows for a mean that does not depend on their order. */
  public final class RowSum {
    private final long size;
    private final double scale;
    private final long[] sums = new long[config.width()];

    private RowSum(long size) {
      this.size = size;
      // Sums of whole numbers are the same in any order, so the mean does not depend on the order
      // in which rows came. The largest sum is size * LARGEST * scale < 2^63.
      scale = Math.scalb(1.0, 20 + Integer.numberOfLeadingZeros((int) size));
    }

    /** Adds the row at an address, laid out as those of this table. */
    public void add(long row) {
      for (int j = 0; j < sums.length; j++) {
        add(row, j);
      }
    }

    private void add(long row, int column) {
      float w = loops.get(row, column);
      sums[column] += Math.round(Math.clamp(w, -LARGEST, LARGEST) * scale);
    }

    /** The mean. */
    public float[] mean() {
      float[] weights = new float[sums.length];
      for (int j = 0; j < sums.length; j++) {
        weights[j] = size == 0 ? 0 : (float) (sums[j] / scale / size);
      }
      return weights;
    }
  }

  /** Begins the mean of {@code size} rows. */
  public RowSum sum(long size) {
    return new RowSum(size);
  }

  /** Whether ids without a row read as the mean of all rows. */
  public boolean readMean() {
    return config.unknown() == UnknownRow.MEAN;
  }

  /** The mean of a table of {@code size} rows at {@code version} is {@code weights}. */
  public void setMean(long size, long version, float[] weights) {
    mean = new Mean(size, version, weights);
  }

  /** The mean of a table of {@code size} rows at {@code version}. */
  public float[] mean(long size, long version) {
    Mean current = mean;
    return (current.isOf(size, version) ? current : renewed(size, version)).weights.clone();
  }

  /** Makes the missing ids {@code [from, to)} of a lookup read as unknown, as {@link #address}. */
  public void read(RowLookup lookup, int from, int to, long size, long version) {
    long row = from < to ? address(lookup, size, version) : zeros;
    for (int i = from; i < to; i++) {
      read(lookup, lookup.missing[i], row);
    }
  }

  /** Makes the distinct ids {@code without} of a lookup read as unknown. */
  public void read(RowLookup lookup, int[] without, long size, long version) {
    long row = without.length > 0 ? address(lookup, size, version) : zeros;
    for (int u : without) {
      read(lookup, u, row);
    }
  }

  private void read(RowLookup lookup, int u, long row) {
    if (buckets.isPresent()) {
      buckets.get().read(lookup, u);
    } else {
      lookup.rows[u] = RowLookup.NONE;
      lookup.addresses[u] = row;
    }
  }

  /** Excludes the first {@code count} of these ids from updates; {@link #readAgain} must follow. */
  public void leaveOut(RowLookup lookup, int[] without, int count) {
    for (int i = 0; i < count; i++) {
      lookup.rows[without[i]] = RowLookup.NONE;
      lookup.addresses[without[i]] = zeros;
    }
  }

  /** Makes all ids without a row read as unknown again, if that may have changed. */
  public void readAgain(RowLookup lookup, long size, long version) {
    if (config.unknown() == UnknownRow.MEAN || buckets.isPresent()) {
      read(lookup, lookup.unknown(), size, version);
    }
  }

  /** The row of unknown ids, for a table of {@code size} rows at {@code version}. */
  private long address(RowLookup lookup, long size, long version) {
    if (config.unknown() != UnknownRow.MEAN) {
      return zeros;
    }
    Mean current = mean;
    float[] weights = (current.isOf(size, version) ? current : renewed(size, version)).weights;
    if (config.format() == RowFormat.INT8) {
      long floats = lookup.copies(4L * weights.length + RowLayout.weightBytes(config));
      long row = floats + 4L * weights.length;
      Memory.copyIn(weights, 0, floats, weights.length);
      Int8Rows.set(DType.F32, floats, weights.length, row);
      return row;
    }
    long row = lookup.copies(RowLayout.weightBytes(config));
    for (int j = 0; j < weights.length; j++) {
      StoredWeights.set(config.storage(), row, j, weights[j]);
    }
    return row;
  }

  /** One thread computes the mean; others wait for it. */
  private synchronized Mean renewed(long size, long version) {
    if (mean.isOf(size, version)) {
      return mean;
    }
    RowSum sum = new RowSum(size);
    // Free rows are zeros and change no sum.
    int end = rows.size();
    for (int from = 0; from < end; from += BLOCK) {
      int to = Math.min(end, from + BLOCK);
      for (int j = 0; j < config.width(); j++) {
        for (int i = from; i < to; i++) {
          sum.add(rows.address(i), j);
        }
      }
    }
    mean = new Mean(size, version, sum.mean());
    return mean;
  }
}
