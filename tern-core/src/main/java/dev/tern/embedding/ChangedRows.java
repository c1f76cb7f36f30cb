package dev.tern.embedding;

import java.util.Arrays;

/**
 * Ids that were noted since a moment, and what rows they had at another: numbers of rows in memory,
 * {@link Lookup#COPY} for one in a file, or {@link Lookup#NONE}.
 */
final class ChangedRows {
  private final long[] ids;
  private final int[] rows;

  /** Of the first {@code count} ids. */
  ChangedRows(long[] ids, int count) {
    this.ids = Arrays.copyOf(ids, count);
    rows = new int[count];
  }

  int count() {
    return ids.length;
  }

  /** Fills a lookup with the ids from number {@code from} on, as many as are moved at once. */
  void fill(Lookup lookup, int from) {
    int count = Math.min(RowTransfer.BLOCK, ids.length - from);
    lookup.fill(Arrays.copyOfRange(ids, from, from + count), count);
  }

  /** Takes the rows that were found for these. */
  void take(Lookup lookup, int from) {
    for (int i = 0; i < lookup.count(); i++) {
      rows[from + i] = lookup.rows[lookup.inverse[i]];
    }
  }

  /** Gives the ids with a row, some perhaps twice. */
  void forEachRow(IdIndex.EntrySink sink) {
    for (int i = 0; i < ids.length; i++) {
      if (rows[i] != Lookup.NONE) {
        sink.accept(ids[i], rows[i]);
      }
    }
  }

  /** The ids without a row, ascending, each once. */
  long[] gone() {
    long[] gone = new long[ids.length];
    int count = 0;
    for (int i = 0; i < ids.length; i++) {
      if (rows[i] == Lookup.NONE) {
        gone[count++] = ids[i];
      }
    }
    return Arrays.stream(gone, 0, count).sorted().distinct().toArray();
  }
}
