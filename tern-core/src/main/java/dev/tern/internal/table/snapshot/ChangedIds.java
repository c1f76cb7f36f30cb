package dev.tern.internal.table.snapshot;

import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.table.policy.NumberSet;
import dev.tern.internal.table.rows.RowLookup;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * The ids of a table whose rows changed, came or went since a moment. A bit for each row says
 * whether its id is listed; the next updates of the row only read that bit. A list that becomes as
 * long as the table is given up: then all rows count as changed, and nothing is noted any more.
 */
public final class ChangedIds {
  private static final int LEAST = 1024;

  /** About how many rows the table has. */
  private final LongSupplier rows;

  /** Whether each step changes all rows. */
  private final boolean everyRow;

  private final NumberSet listed = new NumberSet();
  private long[] ids = new long[LEAST];
  private int count;
  private boolean all;

  ChangedIds(TableConfig config, LongSupplier rows) {
    this.rows = rows;
    everyRow = config.updatesAllRows();
  }

  void clear() {
    count = 0;
    all = false;
    listed.clear();
  }

  /** Notes that a step updates the rows of a lookup. */
  void update(RowLookup lookup) {
    if (everyRow) {
      giveUp();
    }
    note(lookup);
  }

  /** Notes that the rows of a lookup came or changed. */
  void note(RowLookup lookup) {
    int unique = lookup.unique();
    for (int u = 0; u < unique && !all; u++) {
      int row = lookup.rows[u];
      if (row >= 0 && listed.add(row)) {
        list(lookup.ids[u]);
      }
    }
  }

  /** Notes that an id lost its row, which another id may get. */
  void gone(long id, int row) {
    if (!all && !listed.remove(row)) {
      list(id);
    }
  }

  /** Notes that a row has left memory; another id may get its number. */
  void moved(int row) {
    listed.remove(row);
  }

  private void list(long id) {
    if (count == ids.length) {
      if (count >= rows.getAsLong()) {
        giveUp();
        return;
      }
      ids = Arrays.copyOf(ids, 2 * count);
    }
    ids[count++] = id;
  }

  private void giveUp() {
    all = true;
    count = 0;
    ids = new long[LEAST];
  }

  /** Whether all rows count as changed and no ids are listed. */
  public boolean all() {
    return all;
  }

  /** The {@link #count} ids, in no useful order, some perhaps twice. */
  public long[] ids() {
    return ids;
  }

  public int count() {
    return count;
  }
}
