package dev.tern.embedding;

import dev.tern.internal.table.TableLock;
import dev.tern.internal.table.TableLock.Use;
import dev.tern.internal.table.TableRows;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Takes the snapshots of a table, and knows the one that is open while others change the table. */
final class TableSnapshots {
  private final TableRows rows;
  private final TableLock lock;
  private final AtomicReference<@Nullable TableSnapshot> open = new AtomicReference<>();

  TableSnapshots(TableRows rows, TableLock lock) {
    this.rows = rows;
    this.lock = lock;
  }

  /**
   * The table as it is now, whatever becomes of it later; where it cannot do that, as {@link
   * #hold}.
   *
   * @param changes whether it is to hold no more than what changed, where that is listed
   */
  TableSnapshot take(boolean changes) {
    lock.begin(Use.CHANGE);
    try {
      rows.requireExportable();
      Optional<TableSnapshot> made =
          TableSnapshot.detached(rows, changes, ended -> open.compareAndSet(ended, null));
      if (made.isPresent()) {
        open.set(made.get());
        return made.get();
      }
    } finally {
      lock.end(Use.CHANGE);
    }
    return hold(changes);
  }

  /** Likewise, of a table that waits with changes until it is closed. */
  TableSnapshot hold(boolean changes) {
    lock.begin(Use.SNAPSHOT);
    try {
      rows.requireExportable();
      return TableSnapshot.holding(rows, changes, () -> lock.end(Use.SNAPSHOT));
    } catch (RuntimeException | Error e) {
      lock.end(Use.SNAPSHOT);
      throw e;
    }
  }

  /** Closes the one that is open, if there is one. */
  void close() {
    TableSnapshot last = open.get();
    if (last != null) {
      last.close();
    }
  }
}
