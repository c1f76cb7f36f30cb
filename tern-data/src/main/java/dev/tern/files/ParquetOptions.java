package dev.tern.files;

import java.util.List;

/**
 * What to make of the values of Parquet files.
 *
 * @param nulls true: a null is a missing value: NaN in a dense column, the hash of "" in a text
 *     column or list, no id in an id column or list; false: a null is a fault. In HugeCTR's form
 *     and among labels it always is
 * @param slotSizes HugeCTR's slot_size_array: the ids of slot k are 0 to {@code slotSizes[k] - 1},
 *     and the sum of the sizes before is added to each, so that slots share no id; others are
 *     faults. Empty: ids are taken as they are
 */
public record ParquetOptions(boolean nulls, List<Long> slotSizes) {
  /** Nulls are missing values, ids are taken as they are. */
  public static final ParquetOptions DEFAULT = new ParquetOptions(true, List.of());

  public ParquetOptions {
    slotSizes = List.copyOf(slotSizes);
    long sum = 0;
    for (long size : slotSizes) {
      if (size < 0 || sum + size < 0) {
        throw new IllegalArgumentException(
            "parquet: got slot sizes " + slotSizes + ", expected sizes that add up to a 64-bit id");
      }
      sum += size;
    }
  }

  /** These options with nulls as faults. */
  public ParquetOptions withoutNulls() {
    return new ParquetOptions(false, slotSizes);
  }

  /** These options with {@code sizes} of the slots, one for each. */
  public ParquetOptions withSlotSizes(List<Long> sizes) {
    return new ParquetOptions(nulls, sizes);
  }
}
