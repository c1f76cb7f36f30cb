package dev.tern.internal.table;

import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.TableLock.Call;
import dev.tern.internal.table.TableLock.Use;
import dev.tern.internal.table.rows.BucketRows;
import dev.tern.internal.table.rows.RowLayout;
import dev.tern.internal.table.rows.RowLookup;
import java.util.Optional;

/**
 * Has a table take in a layer of changes while threads read it beneath that layer. Those never read
 * a row of an id in the layer. So rows are overwritten without keeping anybody out; only the index
 * needs a turn without readers, a few ids at a time.
 *
 * <p>If memory runs out, a part is taken in. That hurts no reader beneath the layer, and folding
 * again takes the rest.
 */
public final class RowFold {
  /** Ids that are handled at once; readers wait while as many are inserted. */
  private static final int BLOCK = 128;

  private final TableRows table;
  private final TableLock lock;
  private final RowLayer from;
  private final Optional<RowLayer> before;
  private final long rowBytes;

  private final long[] ids = new long[BLOCK];
  private int count;
  private final RowLookup known = new RowLookup();
  private final RowLookup changed = new RowLookup();
  private final RowLookup added = new RowLookup();
  private final long[] some = new long[BLOCK];

  private RowFold(TableRows table, TableLock lock, RowLayer from, Optional<RowLayer> before) {
    this.table = table;
    this.lock = lock;
    this.from = from;
    this.before = before;
    rowBytes = RowLayout.rowBytes(table.config());
  }

  /**
   * Takes {@code from} into {@code table}.
   *
   * @param before an empty layer, which gets what the table had before
   */
  public static void fold(
      TableRows table, TableLock lock, RowLayer from, Optional<RowLayer> before) {
    table.requireOpen("fold");
    new RowFold(table, lock, from, before).run();
  }

  private void run() {
    boolean mean = table.unknown.readMean();
    if (mean && before.isPresent()) {
      TableRows old = before.get().rows();
      float[] was = table.unknown.mean(table.size(), table.version());
      foldRows();
      old.unknown.setMean(old.size(), old.version(), was);
    } else {
      foldRows();
    }
    TableRows rows = from.rows();
    try (Call _ = lock.begin(Use.CHANGE)) {
      table.changed();
      if (mean) {
        table.unknown.setMean(
            table.size(), table.version(), rows.unknown.mean(rows.size(), rows.version()));
      }
    }
  }

  private void foldRows() {
    if (table.buckets.isPresent()) {
      BucketRows own = table.buckets.get();
      before.ifPresent(old -> old.rows().buckets.orElseThrow().copyFrom(own));
      own.copyFrom(from.rows().buckets.orElseThrow());
    }
    from.forEachEntry((id, _) -> {
      ids[count++] = id;
      if (count == BLOCK) {
        foldBlock();
      }
    });
    foldBlock();
  }

  private void foldBlock() {
    if (count == 0) {
      return;
    }
    int block = count;
    count = 0;
    known.fillDistinct(ids, block);
    table.locate(known);
    changed.fillDistinct(ids, block);
    from.rows().locate(changed);
    before.ifPresent(old -> keep(old, block));
    int fresh = 0;
    boolean gone = false;
    for (int i = 0; i < block; i++) {
      if (known.rows[i] < 0 && changed.rows[i] >= 0) {
        some[fresh++] = ids[i];
      }
      gone |= known.rows[i] >= 0 && changed.rows[i] < 0;
    }
    if (fresh > 0 || gone) {
      try (Call _ = lock.begin(Use.CHANGE)) {
        changeIndex(block, fresh);
      }
    }
    int at = 0;
    for (int i = 0; i < block; i++) {
      if (changed.rows[i] >= 0) {
        long to = known.rows[i] >= 0 ? known.addresses[i] : added.addresses[at++];
        Memory.copy(changed.addresses[i], to, rowBytes);
      }
    }
    Thread.yield(); // Who scores meanwhile on this processor should not wait for a whole fold.
  }

  private void changeIndex(int block, int fresh) {
    table.watch().begin();
    for (int i = 0; i < block; i++) {
      if (known.rows[i] >= 0 && changed.rows[i] < 0) {
        table.evict(ids[i], known.rows[i]);
      }
    }
    table.watch().end();
    if (fresh > 0) {
      table.importNew(some, fresh, added);
    }
    table.changed();
  }

  /** Keeps what the table has of a block. */
  private void keep(RowLayer old, int block) {
    int missing = 0;
    int rows = 0;
    long[] without = new long[block];
    for (int i = 0; i < block; i++) {
      if (known.rows[i] < 0) {
        without[missing++] = ids[i];
      } else {
        some[rows++] = ids[i];
      }
    }
    old.remove(without, missing);
    if (rows > 0) {
      old.rows().importNew(some, rows, added);
      int at = 0;
      for (int i = 0; i < block; i++) {
        if (known.rows[i] >= 0) {
          Memory.copy(known.addresses[i], added.addresses[at++], rowBytes);
        }
      }
    }
  }
}
