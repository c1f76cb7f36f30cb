package dev.tern.embedding;

import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.table.TableLock;
import dev.tern.internal.table.TableLock.Use;
import dev.tern.internal.table.TableRows;
import dev.tern.internal.table.policy.CountingFilter;
import dev.tern.internal.table.snapshot.FilterWords;
import java.util.Optional;

/**
 * What a table remembers beside its rows, which checkpoints keep so that a resumed run goes on as
 * if it had never stopped: counters, the counting filter as words of 8 bytes, and the rows of
 * {@link UnknownRow.Hashed}. Each call is atomic; several fit together while nothing changes the
 * table.
 */
public final class TableHistory {
  private static final int BLOCK = 1 << 13;

  private final TableRows rows;
  private final TableLock lock;

  TableHistory(TableRows rows, TableLock lock) {
    this.rows = rows;
    this.lock = lock;
  }

  /**
   * The last step, and counts; where rows go by time ({@link Eviction.UnseenFor}) then up to 256
   * steps, each with the time at which it ended, in milliseconds since 1970.
   */
  public long[] counters() {
    lock.begin(Use.READ);
    try {
      return rows.residents().history();
    } finally {
      lock.end(Use.READ);
    }
  }

  /** Words of the filter; 0 where there is none. */
  public long filterWords() {
    lock.begin(Use.READ);
    try {
      return words();
    } finally {
      lock.end(Use.READ);
    }
  }

  private long words() {
    return filter().map(CountingFilter::words).orElse(0L);
  }

  private Optional<CountingFilter> filter() {
    return rows.residents().filter();
  }

  /** Takes or gives words of a filter, in order. */
  @FunctionalInterface
  public interface Words {
    /** The next {@code count} words, in {@code values[0 .. count)}. */
    void next(long[] values, int count);
  }

  /** Gives the words of the filter. */
  public void readFilter(Words sink) {
    lock.begin(Use.SNAPSHOT);
    try {
      rows.requireOpen("history");
      filter().map(FilterWords::of).orElse(FilterWords.NONE).read(sink::next);
    } finally {
      lock.end(Use.SNAPSHOT);
    }
  }

  /**
   * Makes the history of a new table, before its rows are imported, that of another.
   *
   * @param words words of its filter
   * @param source gives them
   * @throws IllegalArgumentException if the table cannot have this history
   */
  public void restore(long[] counters, long words, Words source) {
    lock.begin(Use.CHANGE);
    try {
      rows.requireOpen("history");
      if (!restored(counters, words, source)) {
        throw new IllegalArgumentException(
            "table %s: got a history of %d counters and a filter of %d words that cannot be its own,"
                    .formatted(rows.config().name(), counters.length, words)
                + " expected one that a table of this row policy left; the source is damaged");
      }
    } finally {
      lock.end(Use.CHANGE);
    }
  }

  /**
   * Makes the rows of {@link UnknownRow.Hashed} of a new table, before its rows are imported, those
   * of another.
   *
   * @param source gives all, as {@link TableSnapshot#exportBuckets} does
   * @throws IllegalArgumentException if they are not as many as the table has
   */
  public void restoreBuckets(RowBlock.Source source) {
    lock.begin(Use.CHANGE);
    try {
      rows.requireOpen("history");
      if (!rows.restoreBuckets(source)) {
        throw new IllegalArgumentException(
            "table %s: got other bucket rows than it has, expected %d; the source is damaged"
                .formatted(rows.config().name(), rows.config().unknown().buckets()));
      }
    } finally {
      lock.end(Use.CHANGE);
    }
  }

  private boolean restored(long[] counters, long words, Words source) {
    boolean sized = filter().map(f -> f.resize(words)).orElse(words == 0);
    long[] block = new long[BLOCK];
    for (long from = 0; from < words && sized; from += BLOCK) {
      int count = (int) Math.min(BLOCK, words - from);
      source.next(block, count);
      filter().orElseThrow().write(from, block, count);
    }
    return sized && rows.residents().restore(counters);
  }
}
