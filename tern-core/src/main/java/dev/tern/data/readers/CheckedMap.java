package dev.tern.data.readers;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.Schema;
import java.util.Objects;

/** Calls a {@link BatchMap}; a failure names the row. */
final class CheckedMap {
  private final BatchMap map;
  private final Schema schema;
  private final BatchPool pool;

  CheckedMap(Schema schema, BatchMap map) {
    this.map = Objects.requireNonNull(map, "map");
    this.schema = schema;
    pool = new BatchPool(schema, 1024);
  }

  Schema schema() {
    return schema;
  }

  /**
   * The rows of {@code from}, mapped.
   *
   * @param epoch their pass
   * @param before rows before them in the pass
   */
  Batch apply(Batch from, int epoch, long before) {
    Batch to = pool.take();
    try {
      map.apply(from, to);
      requireRows(to, from.size());
      return to;
    } catch (RuntimeException e) {
      to.close();
      throw located(from, epoch, before, e);
    } catch (Error e) {
      to.close();
      throw e;
    }
  }

  private static void requireRows(Batch to, int rows) {
    if (to.size() != rows) {
      throw new DataException(
          "got %d rows for %d, expected as many; leave rows out with a filter"
              .formatted(to.size(), rows));
    }
  }

  /** Maps row by row to find the one at which the map fails. */
  private DataException located(Batch from, int epoch, long before, RuntimeException failure) {
    Batch one = new Batch(from.schema(), 1);
    Batch to = new Batch(schema, 1);
    for (int row = 0; row < from.size(); row++) {
      one.clear();
      one.appendRow(from, row);
      to.clear();
      try {
        map.apply(one, to);
        requireRows(to, 1);
      } catch (RuntimeException e) {
        return failed("map", "row " + (before + row + 1), epoch, e);
      }
    }
    String where = "one of rows " + (before + 1) + " to " + (before + from.size());
    return failed("map", where, epoch, failure);
  }

  /** The failure of {@code op} at a row, caused by {@code cause}. */
  static DataException failed(String op, String where, int epoch, RuntimeException cause) {
    String got = cause instanceof DataException ? cause.getMessage() : "got " + cause;
    return new DataException("%s: %s of pass %d: %s".formatted(op, where, epoch, got), cause);
  }
}
