package dev.tern.internal.table.snapshot;

import dev.tern.internal.table.index.IdIndex;
import dev.tern.internal.table.rows.RowLookup;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Ids that were noted since a moment, and the rows that they had at a later one: the number of a
 * row in memory, {@link RowLookup#COPY} for one in a file, or {@link RowLookup#NONE}.
 */
public final class ChangedRows {
  private static final int BLOCK = 1024;

  private final long[] ids;
  private final int[] rows;

  /**
   * Looks up the first {@code count} ids.
   *
   * @param locate finds the rows of a filled lookup
   */
  public ChangedRows(long[] ids, int count, Consumer<RowLookup> locate) {
    this.ids = Arrays.copyOf(ids, count);
    rows = new int[count];
    RowLookup lookup = new RowLookup();
    for (int from = 0; from < count; from += BLOCK) {
      int to = Math.min(count, from + BLOCK);
      lookup.fill(Arrays.copyOfRange(ids, from, to), to - from);
      locate.accept(lookup);
      for (int i = from; i < to; i++) {
        rows[i] = lookup.rows[lookup.inverse[i - from]];
      }
    }
  }

  public int count() {
    return ids.length;
  }

  /** Gives the ids with a row, some perhaps twice. */
  public void forEachRow(IdIndex.EntrySink sink) {
    for (int i = 0; i < ids.length; i++) {
      if (rows[i] != RowLookup.NONE) {
        sink.accept(ids[i], rows[i]);
      }
    }
  }

  /** The ids without a row, ascending, each once. */
  public long[] gone() {
    long[] gone = new long[ids.length];
    int count = 0;
    for (int i = 0; i < ids.length; i++) {
      if (rows[i] == RowLookup.NONE) {
        gone[count++] = ids[i];
      }
    }
    return Arrays.stream(gone, 0, count).sorted().distinct().toArray();
  }
}
