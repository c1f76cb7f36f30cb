package dev.tern.files.parquet;

import java.util.List;
import java.util.stream.Stream;

/**
 * What to make of the values of Parquet files.
 *
 * @param nulls true: a null is a missing value: NaN in a dense column, the hash of "" in a text
 *     column or list, no id in an id column or list; false: a null is a fault. In HugeCTR's form
 *     and among labels it always is
 * @param ranges row groups that surely hold no row within one of these, by the statistics in the
 *     footer, are left out; all rows of the others are read. Only for columns by name
 * @param slotSizes HugeCTR's slot_size_array: the ids of slot k are 0 to {@code slotSizes[k] - 1},
 *     and the sum of the sizes before is added to each, so that slots share no id; others are
 *     faults. Empty: ids are taken as they are
 * @param largestPage bytes that a page may have, 1 or more; a larger one is a fault. A page is read
 *     as a whole, so this bounds the memory of a column
 */
public record ParquetOptions(
    boolean nulls, List<Long> slotSizes, List<Range> ranges, long largestPage) {

  /**
   * What values of a column are looked for.
   *
   * @param column name of a top-level column of numbers, which need not be one that is read
   * @param least the smallest
   * @param greatest the largest
   */
  public record Range(String column, double least, double greatest) {
    public Range {
      if (!(least <= greatest)) {
        throw new IllegalArgumentException(
            "parquet: got " + column + " from " + least + " to " + greatest + ", expected a range");
      }
    }
  }

  /** Nulls are missing values, ids are taken as they are, pages have up to 1 GiB. */
  public static final ParquetOptions DEFAULT =
      new ParquetOptions(true, List.of(), List.of(), 1 << 30);

  public ParquetOptions {
    slotSizes = List.copyOf(slotSizes);
    ranges = List.copyOf(ranges);
    if (largestPage < 1) {
      throw new IllegalArgumentException(
          "parquet: got pages of up to " + largestPage + " bytes, expected 1 or more");
    }
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
    return new ParquetOptions(false, slotSizes, ranges, largestPage);
  }

  /** These options with {@code sizes} of the slots, one for each. */
  public ParquetOptions withSlotSizes(List<Long> sizes) {
    return new ParquetOptions(nulls, sizes, ranges, largestPage);
  }

  /** These options without row groups that surely hold no row within {@code range}, too. */
  public ParquetOptions within(Range range) {
    return new ParquetOptions(
        nulls, slotSizes, Stream.concat(ranges.stream(), Stream.of(range)).toList(), largestPage);
  }

  /** These options with pages of up to {@code bytes}. */
  public ParquetOptions withLargestPage(long bytes) {
    return new ParquetOptions(nulls, slotSizes, ranges, bytes);
  }
}
