package dev.tern.embedding;

import dev.tern.base.DType;
import dev.tern.internal.memory.Memory;
import java.lang.ref.Reference;
import java.util.function.Consumer;

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

  /** Gives all rows. */
  void export(SortedRows sorted, RowSink sink) {
    for (int count = sorted.next(); count > 0; count = sorted.next()) {
      export(sorted.ids(), count, sink);
    }
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

  /** Gives rows as they lie, in order. */
  void export(SortedRows sorted, boolean inMemory, Consumer<RowBlock> sink) {
    RowPipe.run(config, new Gathering(sorted, inMemory), sink);
  }

  /** Gives rows as they were, in order, while others change them. */
  void export(SortedRows sorted, RowCopies copies, Consumer<RowBlock> sink) {
    RowPipe.run(config, block -> next(block, sorted, copies), sink);
  }

  private boolean next(RowBlock block, SortedRows sorted, RowCopies copies) {
    int length = sorted.advance(block.room());
    block.take(sorted.ids(), sorted.at(), length);
    for (int i = 0; i < length; i++) {
      block.places()[i] = copies.address(sorted.rows()[sorted.at() + i]);
    }
    block.gather();
    copies.mend(block, sorted.rows(), sorted.at());
    return length > 0;
  }

  /** Rows in order, from where they lie. */
  private final class Gathering implements RowBlock.Source {
    private final SortedRows sorted;

    /** Whether all rows have numbers; else they are looked for. */
    private final boolean inMemory;

    private final Lookup lookup = new Lookup();

    Gathering(SortedRows sorted, boolean inMemory) {
      this.sorted = sorted;
      this.inMemory = inMemory;
    }

    @Override
    public boolean next(RowBlock block) {
      int length = sorted.advance(block.room());
      block.take(sorted.ids(), sorted.at(), length);
      if (inMemory) {
        for (int i = 0; i < length; i++) {
          block.places()[i] = rows.address(sorted.rows()[sorted.at() + i]);
        }
      } else {
        find(block);
      }
      block.gather();
      Reference.reachabilityFence(lookup); // it may hold copies of rows
      return length > 0;
    }

    private void find(RowBlock block) {
      lookup.fill(block.ids(), block.count());
      table.find(lookup, false);
      // Distinct ids: row i is that of id i.
      System.arraycopy(lookup.addresses, 0, block.places(), 0, block.count());
    }
  }

  private void exportRows(Lookup lookup, int count, long buffer) {
    int width = config.width();
    long rowBytes = 4L * config.rowFloats();
    long[] addresses = lookup.addresses;
    MatrixBlock out = new MatrixBlock().at(buffer, rowBytes).rows(0, count).columns(0, width);
    loops.gather(addresses, lookup.inverse, out);
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

  /**
   * Makes rows of blocks as they are stored.
   *
   * @param stay whether rows stay where they are put: then another thread fills them
   */
  void importFrom(RowBlock.Source source, boolean stay) {
    Placing placing = new Placing();
    if (stay && !config.keepsId()) {
      RowPipe.run(config, source, placing::place, block -> block.scatter(config, 0, block.count()));
    } else {
      RowPipe.run(config, source, placing::fill);
    }
  }

  /** Makes rows for the ids of blocks, in order. */
  private final class Placing {
    private final long[] ids = new long[BLOCK];
    private final Lookup lookup = new Lookup();
    private boolean started;
    private long last;

    /** Says where the rows of a block are to lie. */
    void place(RowBlock block) {
      requireAscending(block);
      for (int from = 0; from < block.count(); from += BLOCK) {
        place(block, from);
      }
    }

    /** Likewise, and fills them. */
    void fill(RowBlock block) {
      requireAscending(block);
      for (int from = 0; from < block.count(); from += BLOCK) {
        int count = place(block, from);
        block.scatter(config, from, from + count);
        for (int i = 0; i < count && config.keepsId(); i++) {
          enter(ids[i], lookup.rows[i]);
        }
      }
    }

    private int place(RowBlock block, int from) {
      int count = Math.min(BLOCK, block.count() - from);
      System.arraycopy(block.ids(), from, ids, 0, count);
      table.importNew(ids, count, lookup);
      System.arraycopy(lookup.addresses, 0, block.places(), from, count);
      return count;
    }

    /** So that no id comes twice. */
    private void requireAscending(RowBlock block) {
      for (int i = 0; i < block.count(); i++) {
        long id = block.ids()[i];
        if (started && id <= last) {
          throw new IllegalArgumentException(
              "table %s: got id %d after %d in an import, expected ascending ids; the source is"
                      .formatted(config.name(), id, last)
                  + " damaged");
        }
        started = true;
        last = id;
      }
    }
  }

  private void importRow(long id, long values, int number) {
    long row = rows.address(number);
    int width = config.width();
    if (config.format() == RowFormat.INT8) {
      ScalarBytes.set(DType.F32, values, width, row);
      return;
    }
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
      enter(id, number);
    }
  }

  /** Completes a row that holds its id. */
  private void enter(long id, int number) {
    Memory.setLong(rows.address(number) + config.idOffset(), id);
    if (!residents.enterAgain(id, number)) {
      throw new IllegalArgumentException(
          "table %s: got id %d last seen in a step, or so often, as cannot be; the source is damaged"
              .formatted(config.name(), id));
    }
  }
}
