package dev.tern.bench.tables;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.table.index.IdIndex;
import dev.tern.internal.table.rows.RowLookup;

/**
 * The id index of a table by itself, for the benchmarks, which are on the same class path. It does
 * what maps of other libraries do: finds the row number of each id of a batch, also of one that the
 * batch holds twice.
 */
final class BareIndex implements AutoCloseable {
  private final IdIndex index;
  private final ThreadLocal<RowLookup> lookup = ThreadLocal.withInitial(RowLookup::new);

  BareIndex(Allocator allocator) {
    index = new IdIndex(allocator, "index");
  }

  /** Gives each id that has no row the next one. */
  void insert(long[] ids, int count) {
    RowLookup mine = lookup.get();
    mine.fill(ids, count);
    index.find(mine.distinct, 0, mine.unique());
    int missing = 0;
    for (int u = 0; u < mine.unique(); u++) {
      if (mine.rows[u] < 0) {
        mine.rows[u] = (int) index.size() + missing;
        mine.missing[missing++] = u;
      }
    }
    index.insert(mine.distinct, mine.missing, missing);
  }

  /** Whether every one of {@code ids[0 .. count)} has a row; looks all of them up. */
  boolean find(long[] ids, int count) {
    RowLookup mine = lookup.get();
    mine.fillDistinct(ids, count);
    index.find(mine.distinct, 0, mine.unique());
    int found = 0;
    for (int i = 0; i < count; i++) {
      found |= mine.rows[i];
    }
    return found >= 0;
  }

  long size() {
    return index.size();
  }

  long bytes() {
    return index.bytes();
  }

  @Override
  public void close() {
    index.free();
  }
}
