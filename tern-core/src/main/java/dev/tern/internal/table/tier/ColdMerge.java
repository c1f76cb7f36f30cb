package dev.tern.internal.table.tier;

/**
 * Rows of one partition of {@link ColdRows} on their way from memory into the file, and the place
 * there of what comes out when they are merged with the partition's records.
 */
public final class ColdMerge {
  /**
   * The rows.
   *
   * @param hashes of their ids, ascending (unsigned), each once
   * @param addresses where they are
   * @param numbers in their table's memory
   */
  public record Rows(long[] hashes, long[] addresses, int[] numbers) {
    int count() {
      return hashes.length;
    }
  }

  private final int partition;
  private final Rows rows;
  private final int after;
  private final int words;
  private long place;
  private long offset;
  private long summary;
  private long filter;

  /**
   * Without a place.
   *
   * @param after records of the partition in the end
   * @param bits bits of its filter for each
   */
  ColdMerge(int partition, Rows rows, int after, int bits) {
    this.partition = partition;
    this.rows = rows;
    this.after = after;
    words = (int) (((long) after * bits + 63) >>> 6);
  }

  int partition() {
    return partition;
  }

  int count() {
    return rows.count();
  }

  long hash(int i) {
    return rows.hashes[i];
  }

  long address(int i) {
    return rows.addresses[i];
  }

  int number(int i) {
    return rows.numbers[i];
  }

  /** The row of a hash, or less than 0. */
  int find(long hash) {
    int low = 0;
    int high = rows.count() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int order = Long.compareUnsigned(rows.hashes[middle], hash);
      if (order == 0) {
        return middle;
      }
      low = order < 0 ? middle + 1 : low;
      high = order < 0 ? high : middle - 1;
    }
    return -1;
  }

  /** Records that come out. */
  int after() {
    return after;
  }

  /** Words of their filter. */
  int words() {
    return words;
  }

  void setPlace(long handle, long fileOffset, long summaryAt, long filterAt) {
    place = handle;
    offset = fileOffset;
    summary = summaryAt;
    filter = filterAt;
  }

  /** The handle of the piece of the file. */
  long place() {
    return place;
  }

  /** Where it begins. */
  long offset() {
    return offset;
  }

  long summary() {
    return summary;
  }

  /** Where the filter begins in the summary. */
  long filter() {
    return filter;
  }
}
