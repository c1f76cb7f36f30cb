package dev.tern.embedding.config;

/**
 * What a table holds and what became of the ids that training looked up in it, each counted once a
 * batch; scoring counts nothing. Where a policy is at work the counts go on in a resumed run, else
 * they begin with the process.
 *
 * @param table name of the table
 * @param rows rows
 * @param bytes bytes held for all of the table
 * @param indexBytes of these, for the index from ids to rows
 * @param probes how many buckets of the index, each a cache line, are read to find the row of an
 *     id: the mean of all ids with a row in memory, 1 at best; NaN where there is none
 * @param hits ids that had a row
 * @param misses ids that had none: admitted and rejected
 * @param admitted ids that were given one
 * @param rejected ids that were not
 * @param evicted rows that went
 * @param filterBytes bytes of the counting filter; 0 where there is none
 * @param sharedCounters ids that are expected to share their counter in the filter with an earlier
 *     one, and may have been admitted early
 * @param file what lies in a file; its counts begin with the process
 */
public record TableStatistics(
    String table,
    long rows,
    long bytes,
    long indexBytes,
    double probes,
    long hits,
    long misses,
    long admitted,
    long rejected,
    long evicted,
    long filterBytes,
    double sharedCounters,
    FileStatistics file) {}
