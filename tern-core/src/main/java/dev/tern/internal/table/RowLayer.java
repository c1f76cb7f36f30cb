package dev.tern.internal.table;

import dev.tern.embedding.config.RowSource;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdIndex;
import dev.tern.internal.table.rows.RowLookup;
import java.util.Optional;

/**
 * What changed in a table between two moments: rows that came or changed, and ids whose rows are
 * gone. Ids without a row read as at the later moment. One thread fills it; from then on any number
 * of threads may read.
 */
public final class RowLayer {
  private final TableRows rows;
  private Optional<IdIndex> gone = Optional.empty();

  /** Changes of a table like {@code table}, in the same memory; none so far. */
  public RowLayer(TableRows table) {
    rows = TableRows.create(table.config(), Optional.empty(), table.allocator());
  }

  /** The rows that came or changed. */
  public TableRows rows() {
    return rows;
  }

  /** The rows of {@code ids[0 .. count)} are gone; they are distinct, and none has a row here. */
  public void remove(long[] ids, int count) {
    if (count == 0) {
      return;
    }
    Allocator allocator = rows.allocator();
    IdIndex index = gone.orElseGet(() -> new IdIndex(allocator, rows.config().holder("gone")));
    gone = Optional.of(index);
    for (int i = 0; i < count; i++) {
      long hash = Hashing.mix(ids[i]);
      if (index.find(hash, ids[i]) < 0) {
        index.reserve(hash);
        index.insert(hash, ids[i], 0);
      }
    }
  }

  /**
   * Takes what {@code all}, every row of the later moment, has otherwise than {@code table}.
   *
   * @param most bytes that this layer may take
   * @return whether it did not take more
   */
  public boolean putDifferences(TableRows table, RowSource all, long most) {
    try (RowDifferences differing = new RowDifferences(table, all, () -> bytes() <= most)) {
      rows.importFrom(differing);
      long[] absent = differing.absent();
      remove(absent, absent.length);
      return differing.isWhole() && bytes() <= most;
    }
  }

  /** Takes what {@code some}, rows of the later moment, have otherwise than {@code table}. */
  public void putSomeDifferences(TableRows table, RowSource some) {
    try (RowDifferences differing = new RowDifferences(table, some, () -> true)) {
      rows.importFrom(differing);
    }
  }

  /** Ids that came, changed or are gone. */
  public long size() {
    return rows.size() + gone.map(IdIndex::size).orElse(0L);
  }

  /** Whether the table's rows do not count for an id. */
  boolean has(long id) {
    long hash = Hashing.mix(id);
    return rows.index.find(hash, id) >= 0 || gone.isPresent() && gone.get().find(hash, id) >= 0;
  }

  /** Gives each id with its row, or with {@link RowLookup#NONE} where that is gone. */
  void forEachEntry(IdIndex.EntrySink sink) {
    rows.forEachEntry(sink);
    if (gone.isPresent()) {
      long next = 0;
      do {
        next = gone.get().forEachEntry(next, (id, _) -> sink.accept(id, RowLookup.NONE));
      } while (next != 0);
    }
  }

  /** Puts the rows of this layer over those that a lookup has found beneath. */
  void find(RowLookup lookup) {
    if (rows.index.size() > 0) {
      rows.index.find(lookup.over(), 0, lookup.unique());
      lookup.takeRows(rows.rows);
    }
    if (gone.isPresent()) {
      gone.get().find(lookup.over(), 0, lookup.unique());
      lookup.leaveRows();
    }
  }

  public long bytes() {
    return rows.bytes() + gone.map(IdIndex::bytes).orElse(0L);
  }

  /** Gives the memory back; a second call does nothing. */
  public void close() {
    rows.close();
    gone.ifPresent(IdIndex::free);
    gone = Optional.empty();
  }
}
