package dev.tern.internal.table.tier;

/**
 * The records of one partition of {@link ColdRows}, and their summary in memory.
 *
 * @param place the handle of its piece of the file
 * @param offset where the piece begins
 * @param count records
 * @param fences address of the fences, and of the summary as a whole
 * @param filter address of the filter
 * @param words words of the filter; 0 for none
 */
record ColdPartition(long place, long offset, int count, long fences, long filter, int words) {
  /** A partition without records. */
  static final ColdPartition EMPTY = new ColdPartition(0, 0, 0, 0, 0, 0);
}
