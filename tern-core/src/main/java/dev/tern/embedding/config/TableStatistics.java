package dev.tern.embedding.config;

/**
 * What a table holds, and what became of the ids that training looked up in it. Each id counts once
 * a batch; scoring counts nothing. Under a row policy the counts go on in a resumed run, otherwise
 * they begin with the process.
 *
 * @param table name of the table
 * @param rows number of rows
 * @param bytes bytes held for all of the table
 * @param index the part of the index
 * @param ids what became of ids
 * @param filter the filter that counts ids without a row
 * @param file what lies in a file; its counts begin with the process
 */
public record TableStatistics(
    String table, long rows, long bytes, Index index, Ids ids, Filter filter, FileStatistics file) {
  /**
   * The index from ids to rows.
   *
   * @param bytes bytes held
   * @param probes how many buckets, each a cache line, are read to find the row of an id: the mean
   *     of all ids with a row in memory, 1 at best; NaN where there is none
   */
  public record Index(long bytes, double probes) {}

  /**
   * Ids that training looked up.
   *
   * @param hits ids that had a row
   * @param misses ids that had none: admitted and rejected
   * @param admitted ids that were given a row
   * @param rejected ids that were not
   * @param evicted rows that went
   */
  public record Ids(long hits, long misses, long admitted, long rejected, long evicted) {}

  /**
   * The counting filter of {@link Admission.ByCount}.
   *
   * @param bytes bytes held; 0 where there is none
   * @param sharedCounters ids that are expected to share their counter with an earlier one, and may
   *     have been admitted early
   */
  public record Filter(long bytes, double sharedCounters) {}

  /** Bytes of the index. */
  public long indexBytes() {
    return index.bytes;
  }

  /** Buckets of the index that are read to find the row of an id. */
  public double probes() {
    return index.probes;
  }

  /** Ids that had a row. */
  public long hits() {
    return ids.hits;
  }

  /** Ids that had no row. */
  public long misses() {
    return ids.misses;
  }

  /** Ids that were given a row. */
  public long admitted() {
    return ids.admitted;
  }

  /** Ids that were not given a row. */
  public long rejected() {
    return ids.rejected;
  }

  /** Rows that went. */
  public long evicted() {
    return ids.evicted;
  }

  /** Bytes of the counting filter. */
  public long filterBytes() {
    return filter.bytes;
  }

  /** Ids that are expected to share their counter. */
  public double sharedCounters() {
    return filter.sharedCounters;
  }
}
