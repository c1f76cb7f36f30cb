package dev.tern.embedding;

import dev.tern.internal.memory.Memory;
import dev.tern.tensor.DType;
import java.lang.ref.Reference;

/**
 * Rows of a table to and from others: each its weights as F32, then its state and metadata, a block
 * at a time.
 */
final class RowTransfer {
  /** Rows that are exported, or imported, at once. */
  static final int BLOCK = 1024;

  private final TableRows table;
  private final TableConfig config;
  private final RowSlabs rows;
  private final Residents residents;
  private final RowLoops loops;

  RowTransfer(TableRows table, RowSlabs rows, Residents residents, RowLoops loops) {
    this.table = table;
    config = table.config();
    this.rows = rows;
    this.residents = residents;
    this.loops = loops;
  }

  /** Gives the rows of the first {@code count} ids. */
  void export(long[] ids, int count, RowSink sink) {
    int floats = config.rowFloats();
    long buffer =
        table.allocator().allocate(4L * floats * BLOCK, "table " + config.name() + " export");
    try {
      long[] block = new long[BLOCK];
      Lookup lookup = new Lookup();
      for (int from = 0; from < count; from += BLOCK) {
        int length = Math.min(BLOCK, count - from);
        System.arraycopy(ids, from, block, 0, length);
        lookup.fill(block, length);
        table.find(lookup, false);
        if (!lookup.complete) {
          throw new IllegalArgumentException(
              "table %s: got an export of ids without a row, expected ids that have one"
                  .formatted(config.name()));
        }
        exportRows(lookup, length, buffer);
        Reference.reachabilityFence(lookup);
        sink.accept(block, buffer, length);
      }
    } finally {
      table.allocator().free(buffer);
    }
  }

  private void exportRows(Lookup lookup, int count, long buffer) {
    int width = config.width();
    long rowBytes = 4L * config.rowFloats();
    long[] addresses = lookup.addresses;
    loops.gather(addresses, lookup.inverse, 0, count, 0, width, buffer, rowBytes);
    long stateBytes = rowBytes - 4L * width;
    for (int i = 0; i < count && stateBytes > 0; i++) {
      long state = addresses[lookup.inverse[i]] + config.weightBytes();
      Memory.copy(state, buffer + i * rowBytes + 4L * width, stateBytes);
    }
  }

  /** Makes rows of what a source gives. */
  void importFrom(RowSource source) {
    long rowBytes = 4L * config.rowFloats();
    long buffer =
        table.allocator().allocate(BLOCK * rowBytes, "table " + config.name() + " import");
    try {
      long[] block = new long[BLOCK];
      Lookup lookup = new Lookup();
      for (int count = source.next(block, buffer); count > 0; count = source.next(block, buffer)) {
        table.importRows(block, count, lookup);
        for (int i = 0; i < count; i++) {
          importRow(block[i], buffer + i * rowBytes, lookup.rows[i]);
        }
      }
    } finally {
      table.allocator().free(buffer);
    }
  }

  private void importRow(long id, long values, int number) {
    long row = rows.address(number);
    int width = config.width();
    if (config.storage() == DType.F32) {
      Memory.copy(values, row, 4L * width);
    } else {
      for (int j = 0; j < width; j++) {
        ScalarHalves.set(config.storage(), row, j, Memory.getFloat(values + 4L * j));
      }
    }
    long stateBytes = 4L * (config.rowFloats() - width);
    Memory.copy(values + 4L * width, row + config.weightBytes(), stateBytes);
    if (config.keepsId()) {
      Memory.setLong(row + config.idOffset(), id);
    }
    if (!residents.enterAgain(id, number)) {
      throw new IllegalArgumentException(
          "table %s: got id %d last seen in a step, or so often, as cannot be; the source is damaged"
              .formatted(config.name(), id));
    }
  }
}
