package dev.tern.internal.table.rows;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Memory;
import java.util.Optional;

/**
 * What ids without a row read as: zeros, the mean, of which each lookup gets a copy, or their
 * buckets. Where each is to read as its initial weights, it is zeros too, and the table puts the
 * weights in afterwards. Any number of threads may ask while the rows stay as they are.
 */
public final class FallbackRows {
  private static final int BLOCK = 256;

  /** Weights beyond this count as this in the mean. */
  private static final float LARGEST = 1024;

  private final TableConfig config;
  private final RowSlabs rows;
  private final RowLoops loops;
  private final long zeros;
  private final Optional<BucketRows> buckets;

  /** The mean that was asked for last. */
  private volatile Mean mean;

  /** Of the rows of a table when it had {@code size} at {@code version}; {@code weights} stay. */
  private record Mean(long size, long version, float[] weights) {
    boolean isOf(long otherSize, long otherVersion) {
      return size == otherSize && version == otherVersion;
    }
  }

  /** With room for a row's weights at {@code zeros}. */
  public FallbackRows(
      TableConfig config, RowSlabs rows, Optional<BucketRows> buckets, RowLoops loops, long zeros) {
    this.config = config;
    this.rows = rows;
    this.buckets = buckets;
    this.loops = loops;
    this.zeros = zeros;
    mean = new Mean(0, 0, new float[config.width()]);
    Memory.zero(zeros, RowLayout.weightBytes(config));
  }

  /** Bytes that a table needs beside its rows: for the row of unknown ids, and for updates. */
  public static long spareBytes(TableConfig config) {
    return RowLayout.weightBytes(config) + RowUpdates.spareBytes(config);
  }

  /**
   * Has the ids numbered {@code from} to {@code to - 1} among the missing of a lookup read as
   * unknown; the table has {@code size} rows at {@code version}.
   */
  public void read(RowLookup lookup, int from, int to, long size, long version) {
    if (from < to && buckets.isPresent()) {
      for (int i = from; i < to; i++) {
        buckets.get().read(lookup, lookup.missing[i]);
      }
    } else if (from < to) {
      long row = address(lookup, size, version);
      for (int i = from; i < to; i++) {
        lookup.addresses[lookup.missing[i]] = row;
      }
    }
  }

  /** Likewise its distinct ids {@code without}. */
  public void read(RowLookup lookup, int[] without, long size, long version) {
    if (buckets.isPresent()) {
      for (int u : without) {
        buckets.get().read(lookup, u);
      }
    } else if (without.length > 0) {
      long row = address(lookup, size, version);
      for (int u : without) {
        lookup.rows[u] = RowLookup.NONE;
        lookup.addresses[u] = row;
      }
    }
  }

  /**
   * Has the first {@code count} of these distinct ids of a lookup sit updates out; {@link
   * #readAgain} before reading.
   */
  public void leaveOut(RowLookup lookup, int[] without, int count) {
    for (int i = 0; i < count; i++) {
      lookup.rows[without[i]] = RowLookup.NONE;
      lookup.addresses[without[i]] = zeros;
    }
  }

  /** Has all ids without a row read as they would now, if that is not what they read as already. */
  public void readAgain(RowLookup lookup, long size, long version) {
    if (config.unknown() == UnknownRow.MEAN || buckets.isPresent()) {
      read(lookup, lookup.unknown(), size, version);
    }
  }

  /**
   * The row that the unknown ids of {@code lookup} read as, for a table of {@code size} rows at
   * {@code version}. It stays what it is until the lookup is found again.
   */
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
      ScalarBytes.set(DType.F32, floats, weights.length, row);
      return row;
    }
    long row = lookup.copies(RowLayout.weightBytes(config));
    for (int j = 0; j < weights.length; j++) {
      ScalarHalves.set(config.storage(), row, j, weights[j]);
    }
    return row;
  }

  /** One thread adds up, others wait for what it finds. */
  private synchronized Mean renewed(long size, long version) {
    if (mean.isOf(size, version)) {
      return mean;
    }
    // Whole numbers add up to the same sum in any order, so the mean does not depend on the order
    // in which ids were met. The largest sum is size * LARGEST * scale < 2^63.
    double scale = Math.scalb(1.0, 20 + Integer.numberOfLeadingZeros((int) size));
    long[] sums = new long[config.width()];
    // Rows given back are zeros.
    int end = rows.size();
    for (int from = 0; from < end; from += BLOCK) {
      int to = Math.min(end, from + BLOCK);
      for (int j = 0; j < sums.length; j++) {
        sums[j] += sum(from, to, j, scale);
      }
    }
    float[] weights = new float[sums.length];
    for (int j = 0; j < sums.length; j++) {
      weights[j] = size == 0 ? 0 : (float) (sums[j] / scale / size);
    }
    mean = new Mean(size, version, weights);
    return mean;
  }

  private long sum(int from, int to, int column, double scale) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      float w = loops.get(rows.address(i), column);
      sum += Math.round(Math.clamp(w, -LARGEST, LARGEST) * scale);
    }
    return sum;
  }
}
