package dev.tern.embedding;

import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.table.TableLock;
import dev.tern.internal.table.TableLock.Call;
import dev.tern.internal.table.TableLock.Use;
import dev.tern.internal.table.TableRows;
import dev.tern.internal.table.policy.CountingFilter;
import java.util.Optional;

/**
 * What a table remembers beside its rows: counters, the counting filter as words of 8 bytes, and
 * the rows of {@link UnknownRow.Hashed}. A {@link TableSnapshot} gives them to a checkpoint, and
 * this gives them to the table of a run that resumes.
 */
public final class TableHistory {
  private static final int BLOCK = 1 << 13;

  private final TableRows rows;
  private final TableLock lock;

  TableHistory(TableRows rows, TableLock lock) {
    this.rows = rows;
    this.lock = lock;
  }

  /** Takes or gives words of a filter, in order. */
  @FunctionalInterface
  public interface Words {
    /** The next {@code count} words, in {@code values[0 .. count)}. */
    void next(long[] values, int count);
  }

  /**
   * Gives a new table, before its rows are imported, counters and filter of another table.
   *
   * @param words words of its filter
   * @param source gives them
   * @throws IllegalArgumentException if the table cannot have this history
   */
  public void restore(long[] counters, long words, Words source) {
    try (Call _ = lock.begin(Use.CHANGE)) {
      rows.requireOpen("history");
      Optional<CountingFilter> filter = rows.residents().filter();
      boolean sized = filter.map(f -> f.resize(words)).orElse(words == 0);
      long[] block = new long[BLOCK];
      for (long from = 0; from < words && sized; from += BLOCK) {
        int count = (int) Math.min(BLOCK, words - from);
        source.next(block, count);
        filter.orElseThrow().write(from, block, count);
      }
      if (!sized || !rows.residents().restore(counters)) {
        throw new IllegalArgumentException(
            "table %s: got a history of %d counters and a filter of %d words that cannot be its own,"
                    .formatted(rows.config().name(), counters.length, words)
                + " expected one that a table of this row policy left; the source is damaged");
      }
    }
  }

  /**
   * Gives a new table, before its rows are imported, the bucket rows ({@link UnknownRow.Hashed}) of
   * another table.
   *
   * @param source gives all, as {@link TableSnapshot#exportBuckets} does
   * @throws IllegalArgumentException if they are not as many as the table has
   */
  public void restoreBuckets(RowBlock.Source source) {
    try (Call _ = lock.begin(Use.CHANGE)) {
      rows.requireOpen("history");
      if (!rows.restoreBuckets(source)) {
        throw new IllegalArgumentException(
            "table %s: got other bucket rows than it has, expected %d; the source is damaged"
                .formatted(rows.config().name(), rows.config().unknown().buckets()));
      }
    }
  }
}
