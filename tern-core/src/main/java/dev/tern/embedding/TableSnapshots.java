package dev.tern.embedding;

import dev.tern.internal.table.TableLock;
import dev.tern.internal.table.TableLock.Call;
import dev.tern.internal.table.TableLock.Use;
import dev.tern.internal.table.TableRows;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Takes the snapshots of a table, and keeps the one that is open while others change the table. */
final class TableSnapshots {
  private final TableRows rows;
  private final TableLock lock;
  private final AtomicReference<@Nullable TableSnapshot> open = new AtomicReference<>();

  TableSnapshots(TableRows rows, TableLock lock) {
    this.rows = rows;
    this.lock = lock;
  }

  /**
   * The table as it is now, while others change it later; if that cannot be, as {@link #hold}.
   *
   * @param changes whether to take only what changed, if that is listed
   */
  TableSnapshot take(boolean changes) {
    try (Call _ = lock.begin(Use.CHANGE)) {
      rows.requireExportable();
      Optional<TableSnapshot> made =
          TableSnapshot.detached(rows, changes, ended -> open.compareAndSet(ended, null));
      if (made.isPresent()) {
        open.set(made.get());
        return made.get();
      }
    }
    return hold(changes);
  }

  /** A snapshot during which changes of the table wait. */
  TableSnapshot hold(boolean changes) {
    Call call = lock.begin(Use.SNAPSHOT);
    try {
      rows.requireExportable();
      return TableSnapshot.holding(rows, changes, call::close);
    } catch (RuntimeException | Error e) {
      call.close();
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
