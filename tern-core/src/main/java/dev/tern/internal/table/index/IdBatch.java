package dev.tern.internal.table.index;

/**
 * Distinct ids that an {@link IdIndex} is asked for: it reads ids and hashes, and writes row
 * numbers. Any number of threads may search one index at a time, each with a batch of its own.
 */
public final class IdBatch {
  /** Ids whose cache lines are asked for before the first of them is needed. */
  static final int GROUP = 256;

  final long[] ids;
  final long[] hashes;

  /** Per id: its row number, or -1. */
  final int[] rows;

  /** Of a group: where the bucket of each id lies. */
  final long[] lines = new long[GROUP];

  /** Of a group: the ids that may lie elsewhere than in their buckets. */
  final int[] elsewhere = new int[GROUP];

  /** Keeps alive the loads that only warm the cache. */
  int touched;

  /**
   * A batch over arrays that the caller fills.
   *
   * @param hashes the {@link Hashing#mix} of each id
   */
  public IdBatch(long[] ids, long[] hashes, int[] rows) {
    this.ids = ids;
    this.hashes = hashes;
    this.rows = rows;
  }
}
