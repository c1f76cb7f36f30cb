package dev.tern.predict;

import dev.tern.embedding.config.RowFormat;

/**
 * How a {@link Predictor} computes.
 *
 * @param tables how rows of embedding tables lie in memory
 * @param threads threads that share the rows of one call where these are many, 1 to 1024, the
 *     caller among them. A service whose own threads score at the same time needs 1
 */
public record ScoreOptions(RowFormat tables, int threads) {
  /** Tables as they are stored, and the caller's thread alone. */
  public static final ScoreOptions DEFAULT = new ScoreOptions(RowFormat.STORED, 1);

  /** Checks {@code threads}. */
  public ScoreOptions {
    if (threads < 1 || threads > 1024) {
      throw new IllegalArgumentException(
          "threads: got " + threads + ", expected 1 to 1024; use at most the number of cores");
    }
  }

  /** The same with tables in another format. */
  public ScoreOptions withTables(RowFormat format) {
    return new ScoreOptions(format, threads);
  }

  /** The same with another number of threads. */
  public ScoreOptions withThreads(int count) {
    return new ScoreOptions(tables, count);
  }
}
