package dev.tern.internal.table.tier;

/**
 * Rows of one partition of {@link ColdRows} on their way from memory into the file, where they are
 * merged with the partition's records.
 *
 * @param partition its number
 * @param merged the partition as it is after the merge
 */
public record ColdMerge(int partition, Rows rows, ColdPartition merged) {
  /**
   * The rows.
   *
   * @param hashes of their ids, ascending (unsigned), each once
   * @param addresses where they are
   * @param numbers in their table's memory
   */
  public record Rows(long[] hashes, long[] addresses, int[] numbers) {}

  int count() {
    return rows.hashes.length;
  }

  /** Where row {@code i} is. */
  long address(int i) {
    return rows.addresses[i];
  }

  /** The row of a hash, or less than 0. */
  int find(long hash) {
    int low = 0;
    int high = count() - 1;
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
}
