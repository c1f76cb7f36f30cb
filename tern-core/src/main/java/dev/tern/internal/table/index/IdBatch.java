package dev.tern.internal.table.index;

/**
 * Distinct ids for {@link IdIndex#find} and {@link IdIndex#insert}, with scratch for the search.
 * Any number of threads may search one index at once, each with a batch of its own.
 */
public final class IdBatch {
  /** Ids whose cache lines are loaded before the first of them is used. */
  static final int GROUP = 256;

  final long[] ids;
  final long[] hashes;

  /** For each id its row number, or -1. */
  final int[] rows;

  /** Scratch for a group: the bucket of each id. */
  final long[] lines = new long[GROUP];

  final FarIds far = new FarIds();

  /** Keeps alive the loads that only warm the cache. */
  int touched;

  /** A batch over arrays that the caller fills; a hash is the {@link Hashing#mix} of its id. */
  public IdBatch(long[] ids, long[] hashes, int[] rows) {
    this.ids = ids;
    this.hashes = hashes;
    this.rows = rows;
  }
}
