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
   * @param probes buckets, each a cache line, that a search for an id reads: the mean of all ids
   *     with a row in memory, 1 at best; NaN where there is none
   */
  public record Index(long bytes, double probes) {}

  /**
   * Ids that training looked up.
   *
   * @param hits ids that had a row
   * @param misses ids that had none: admitted and rejected
   * @param admitted ids that were given a row
   * @param rejected ids that were not
   * @param evicted rows that were removed
   */
  public record Ids(long hits, long misses, long admitted, long rejected, long evicted) {}

  /**
   * The counting filter of {@link Admission.ByCount}.
   *
   * @param bytes bytes held; 0 where there is none
   * @param sharedCounters ids that share their counter with an earlier one, as an estimate: they
   *     may have been admitted early
   */
  public record Filter(long bytes, double sharedCounters) {}

  public long indexBytes() {
    return index.bytes;
  }

  public double probes() {
    return index.probes;
  }

  public long hits() {
    return ids.hits;
  }

  public long misses() {
    return ids.misses;
  }

  public long admitted() {
    return ids.admitted;
  }

  public long rejected() {
    return ids.rejected;
  }

  public long evicted() {
    return ids.evicted;
  }

  public long filterBytes() {
    return filter.bytes;
  }

  public double sharedCounters() {
    return filter.sharedCounters;
  }
}
