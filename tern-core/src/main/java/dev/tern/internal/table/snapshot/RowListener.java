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
 * Is told what happens to the rows of a table before it does, for those who want to know: {@link
 * ChangedIds} lists the ids that it happens to, {@link RowCopies} keeps rows as they were.
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

  /** A call that may change rows begins; every other of these is within such a call. */
  public void begin() {
    if (copies.isPresent()) {
      copies.get().beginChange();
    }
  }

  /** The call ends. */
  public void end() {
    if (copies.isPresent()) {
      RowCopies kept = copies.get();
      if (kept.isClosed()) {
        copies = Optional.empty();
      }
      kept.endChange();
    }
  }

  /** Training looks the rows of a lookup up, which are to keep that. */
  public void seen(RowLookup lookup) {
    if (config.metadata() > 0) {
      if (copies.isPresent()) {
        copies.get().keep(lookup);
      }
      if (changes.isPresent()) {
        changes.get().note(lookup);
      }
    }
  }

  /** A step is about to update the rows of a lookup. */
  public void updated(RowLookup lookup) {
    if (copies.isPresent()) {
      copies.get().keep(lookup);
    }
    if (changes.isPresent()) {
      changes.get().update(lookup);
    }
  }

  /** Bucket rows are about to change, which no id has to be listed for. */
  public void bucketsUpdated(RowLookup buckets) {
    if (copies.isPresent()) {
      copies.get().keep(buckets);
    }
  }

  /** A row that nobody had is about to be given to an id. */
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

  /** Takes rows that leave memory, and may become others' there. */
  public IntConsumer mover() {
    return row -> changes.ifPresent(noted -> noted.moved(row));
  }

  /** From now on notes which ids it happens to. */
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

  /** Whether {@link #keepRows} is of use: not where each step changes all rows. */
  public boolean canKeepRows() {
    return !config.rule().updatesAllRows();
  }

  /** Throws where rows are kept already. */
  public void requireNoneKept() {
    if (copies.isPresent() && !copies.get().isClosed()) {
      throw new IllegalStateException(
          "table %s: got a second snapshot, expected one at a time; close the first"
              .formatted(config.name()));
    }
  }

  /** From now on keeps rows as they are, till that is closed. */
  public RowCopies keepRows() {
    requireNoneKept();
    RowCopies kept = new RowCopies(config, index, rows, allocator);
    copies = Optional.of(kept);
    return kept;
  }
}
