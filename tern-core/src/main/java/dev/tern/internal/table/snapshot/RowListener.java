package dev.tern.internal.table.snapshot;

import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.table.index.IdIndex;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowSlabs;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * Hears what is about to happen to rows of a table. {@link ChangedIds} lists their ids, {@link
 * RowCopies} keeps the rows as they were; both only while somebody has asked for that.
 */
public final class RowListener {
  private final TableConfig config;
  private final IdIndex index;
  private final RowSlabs rows;
  private final Allocator allocator;

  /** Rows of the table, about. */
  private final LongSupplier size;

  private Optional<ChangedIds> changes = Optional.empty();
  private Optional<RowCopies> copies = Optional.empty();

  public RowListener(
      TableConfig config, IdIndex index, RowSlabs rows, Allocator allocator, LongSupplier size) {
    this.config = config;
    this.index = index;
    this.rows = rows;
    this.allocator = allocator;
    this.size = size;
  }

  /** A call that may change rows begins. All other events come before its {@link #end}. */
  public void begin() {
    if (copies.isPresent()) {
      copies.get().beginChange();
    }
  }

  public void end() {
    if (copies.isPresent()) {
      RowCopies kept = copies.get();
      if (kept.isClosed()) {
        copies = Optional.empty();
      }
      kept.endChange();
    }
  }

  /** Training looks rows up, which may change what they keep about themselves. */
  public void seen(RowLookup lookup) {
    if (config.metadata() > 0) {
      keep(lookup);
      added(lookup);
    }
  }

  /** A step is about to update the rows of a lookup. */
  public void updated(RowLookup lookup) {
    keep(lookup);
    if (changes.isPresent()) {
      changes.get().update(lookup);
    }
  }

  /** Rows of buckets, which have no id, are about to change. */
  public void bucketsUpdated(RowLookup buckets) {
    keep(buckets);
  }

  private void keep(RowLookup lookup) {
    if (copies.isPresent()) {
      copies.get().keep(lookup);
    }
  }

  /** A free row is about to be given to an id. */
  public void born(int row) {
    if (copies.isPresent()) {
      copies.get().born(row);
    }
  }

  /** Ids of a lookup have got rows. */
  public void added(RowLookup lookup) {
    if (changes.isPresent()) {
      changes.get().note(lookup);
    }
  }

  /** A row is about to be taken from an id for good. */
  public void gone(long id, int row) {
    if (copies.isPresent()) {
      copies.get().keepGone(id, row);
    }
    if (changes.isPresent()) {
      changes.get().gone(id, row);
    }
  }

  /** Takes the numbers of rows that leave memory; other ids may get these numbers. */
  public IntConsumer mover() {
    return row -> changes.ifPresent(noted -> noted.moved(row));
  }

  /** Starts to note the ids whose rows change. */
  public void trackChanges() {
    if (changes.isEmpty()) {
      changes = Optional.of(new ChangedIds(config, size));
    }
    changes.get().clear();
  }

  /** What was noted. */
  public ChangedIds changes() {
    return changes.orElseThrow(() ->
        new IllegalStateException(
            "table %s: got changes that were not noted, expected trackChanges before"
                .formatted(config.name())));
  }

  /** Whether {@link #keepRows} is of use: not if each step changes all rows. */
  public boolean canKeepRows() {
    return !config.updatesAllRows();
  }

  /** Throws if rows are kept already. */
  public void requireNoneKept() {
    if (copies.isPresent() && !copies.get().isClosed()) {
      throw new IllegalStateException(
          "table %s: got a second snapshot, expected one at a time; close the first"
              .formatted(config.name()));
    }
  }

  /** After {@link #requireNoneKept}: keeps rows as they are now, until the result is closed. */
  public RowCopies keepRows() {
    RowCopies kept = new RowCopies(config, index, rows, allocator);
    copies = Optional.of(kept);
    return kept;
  }
}
