package dev.tern.internal.table;

import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.rows.FallbackRows;
import dev.tern.internal.table.rows.RowLookup;
import java.util.ArrayList;
import java.util.List;

/**
 * A table as it is at one moment: the rows of a table beneath layers of changes. For reading alone.
 *
 * <p>The table may take the lowest layer in ({@link RowFold}) while threads read here: the ids of
 * that layer never reach the table's rows, so the readers do not notice. Afterwards the layer is
 * {@link #drop dropped}.
 */
public final class LayeredRows {
  private final TableRows table;
  private final TableLock lock;

  /** The lowest layer first. Each find reads this once, within its turn at the lock. */
  private volatile RowLayer[] layers;

  /** Reads {@code table}, which {@code lock} guards, beneath layers, the lowest first. */
  public LayeredRows(TableRows table, TableLock lock, List<RowLayer> layers) {
    this.table = table;
    this.lock = lock;
    this.layers = layers.toArray(RowLayer[]::new);
  }

  /** Replaces all layers. No thread may read here. */
  public void set(List<RowLayer> lowestFirst) {
    layers = lowestFirst.toArray(RowLayer[]::new);
  }

  /**
   * Stops to read a layer that the table took in. Returns when no thread reads it here any more.
   */
  public void drop(RowLayer layer) {
    List<RowLayer> left = new ArrayList<>(List.of(layers));
    if (left.remove(layer)) {
      layers = left.toArray(RowLayer[]::new);
      lock.begin(TableLock.Use.CHANGE).close();
    }
  }

  /** Finds the rows of a lookup's ids. The caller has its turn at the lock, and so it pools. */
  public void find(RowLookup lookup) {
    RowLayer[] over = layers;
    table.requireOpen("find");
    if (over.length == 0) {
      table.find(lookup, false);
      return;
    }
    table.locate(lookup);
    for (RowLayer layer : over) {
      layer.find(lookup);
    }
    int missing = lookup.listMissing();
    lookup.complete = missing == 0;
    TableRows top = over[over.length - 1].rows();
    top.unknown.read(lookup, 0, missing, top.size(), top.version());
    lookup.found(this, table.config().name(), table.size(), table.version(), table.gone());
  }

  /** Rows at this moment. */
  public long size() {
    long[] size = {table.size()};
    RowLayer[] over = layers;
    for (int k = 0; k < over.length; k++) {
      int at = k;
      over[k].forEachEntry((id, row) -> {
        boolean before = hasBeneath(over, at, id);
        size[0] += (row >= 0 ? 1 : 0) - (before ? 1 : 0);
      });
    }
    return size[0];
  }

  /** Whether the table beneath the layers from {@code count} on has a row of {@code id}. */
  private boolean hasBeneath(RowLayer[] over, int count, long id) {
    long hash = Hashing.mix(id);
    for (int k = count - 1; k >= 0; k--) {
      if (over[k].has(id)) {
        return over[k].rows().index.find(hash, id) >= 0;
      }
    }
    return table.index.find(hash, id) >= 0;
  }

  /**
   * Computes what ids without a row read as, so that no reader has to: the mean of all rows, where
   * that is what they read. Walks over all rows then. No thread may read here, nor change the
   * table.
   */
  public void prepareUnknown() {
    if (!table.unknown.readMean()) {
      return;
    }
    RowLayer[] over = layers;
    if (over.length == 0) {
      table.unknown.mean(table.size(), table.version());
      return;
    }
    FallbackRows.RowSum sum = table.unknown.sum(size());
    table.forEachEntry((id, row) -> {
      if (isTop(over, -1, id)) {
        sum.add(table.rows.address(row));
      }
    });
    for (int k = 0; k < over.length; k++) {
      int at = k;
      over[k].forEachEntry((id, row) -> {
        if (row >= 0 && isTop(over, at, id)) {
          sum.add(over[at].rows().rows.address(row));
        }
      });
    }
    TableRows top = over[over.length - 1].rows();
    top.unknown.setMean(top.size(), top.version(), sum.mean());
  }

  /** Whether no layer above layer {@code at} has this id. */
  private static boolean isTop(RowLayer[] over, int at, long id) {
    for (int k = over.length - 1; k > at; k--) {
      if (over[k].has(id)) {
        return false;
      }
    }
    return true;
  }
}
