package dev.tern.internal.table;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.RowSink;
import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.policy.RowAdmission;
import dev.tern.internal.table.rows.BucketRows;
import dev.tern.internal.table.rows.MatrixBlock;
import dev.tern.internal.table.rows.PlacedBlock;
import dev.tern.internal.table.rows.RowLayout;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowLoops;
import dev.tern.internal.table.rows.RowSlabs;
import dev.tern.internal.table.rows.ScalarBytes;
import dev.tern.internal.table.rows.ScalarHalves;
import dev.tern.internal.table.snapshot.RowCopies;
import dev.tern.internal.table.snapshot.RowListener;
import dev.tern.internal.table.snapshot.RowPipe;
import dev.tern.internal.table.snapshot.SortedRows;
import dev.tern.internal.table.tier.RowSpiller;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Rows of a table to and from others: each its weights as F32, then its state and metadata, a block
 * at a time.
 */
final class RowTransfer {
  /** Rows that are exported, or imported, at once. */
  private static final int BLOCK = RowSpiller.LEAST_ROWS;

  private final TableRows table;
  private final TableConfig config;
  private final RowSlabs rows;
  private final RowAdmission residents;
  private final RowLoops loops;

  RowTransfer(TableRows table, RowSlabs rows, RowAdmission residents, RowLoops loops) {
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
      RowLookup lookup = new RowLookup();
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
    RowPipe.run(config, new Gathering(sorted, inMemory)::next, block -> sink.accept(block.rows()));
  }

  /** Gives rows as they were, in order, while others change them. */
  void export(SortedRows sorted, RowCopies copies, Consumer<RowBlock> sink) {
    RowPipe.run(config, block -> next(block, sorted, copies), block -> sink.accept(block.rows()));
  }

  private boolean next(PlacedBlock block, SortedRows sorted, RowCopies copies) {
    int length = sorted.advance(block.places().length);
    block.take(sorted.ids(), sorted.at(), length);
    for (int i = 0; i < length; i++) {
      block.places()[i] = copies.address(sorted.rows()[sorted.at() + i]);
    }
    block.gather();
    copies.mend(block, sorted.rows(), sorted.at());
    return length > 0;
  }

  /** Rows in order, from where they lie. */
  private final class Gathering {
    private final SortedRows sorted;

    /** Whether all rows have numbers; else they are looked for. */
    private final boolean inMemory;

    private final RowLookup lookup = new RowLookup();

    Gathering(SortedRows sorted, boolean inMemory) {
      this.sorted = sorted;
      this.inMemory = inMemory;
    }

    boolean next(PlacedBlock block) {
      int length = sorted.advance(block.places().length);
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

    private void find(PlacedBlock block) {
      lookup.fill(block.ids(), block.count());
      table.find(lookup, false);
      // Distinct ids: row i is that of id i.
      System.arraycopy(lookup.addresses, 0, block.places(), 0, block.count());
    }
  }

  private void exportRows(RowLookup lookup, int count, long buffer) {
    int width = config.width();
    long rowBytes = 4L * config.rowFloats();
    long[] addresses = lookup.addresses;
    MatrixBlock out = new MatrixBlock().at(buffer, rowBytes).rows(0, count).columns(0, width);
    loops.gather(addresses, lookup.inverse, out);
    long stateBytes = rowBytes - 4L * width;
    for (int i = 0; i < count && stateBytes > 0; i++) {
      long state = addresses[lookup.inverse[i]] + RowLayout.weightBytes(config);
      Memory.copy(state, buffer + i * rowBytes + 4L * width, stateBytes);
    }
  }

  /**
   * Gives the bucket rows as they are stored, in order, with their numbers for ids and without
   * metadata.
   *
   * @param copies of bucket rows that have changed since the moment that is exported
   */
  void export(BucketRows buckets, Optional<RowCopies> copies, Consumer<RowBlock> sink) {
    int[] all = IntStream.range(0, buckets.count()).toArray();
    long[] numbers = Arrays.stream(all).asLongStream().toArray();
    try (PlacedBlock block = new PlacedBlock(config, 0)) {
      for (int from = 0; from < all.length; from += block.count()) {
        block.take(numbers, from, Math.min(block.places().length, all.length - from));
        for (int i = 0; i < block.count(); i++) {
          block.places()[i] =
              copies.isPresent() ? copies.get().address(from + i) : rows.address(from + i);
        }
        block.gather();
        if (copies.isPresent()) {
          copies.get().mend(block, all, from);
        }
        sink.accept(block.rows());
      }
    }
  }

  /**
   * Writes over the bucket rows what {@link #export(BucketRows, Optional, Consumer)} gave.
   *
   * @return whether the source gives as many as there are; if not, some may be written
   */
  boolean restore(BucketRows buckets, RowBlock.Source source, RowListener watch) {
    int taken = 0;
    watch.begin();
    try (PlacedBlock block = new PlacedBlock(config, 0)) {
      while (source.next(block.rows())) {
        if (block.count() > buckets.count() - taken) {
          return false;
        }
        for (int i = 0; i < block.count(); i++) {
          block.ids()[i] = taken++;
        }
        RowLookup written = buckets.numbered(block.ids(), block.count());
        watch.bucketsUpdated(written);
        System.arraycopy(written.addresses, 0, block.places(), 0, block.count());
        block.scatter(0, block.count());
      }
    } finally {
      watch.end();
    }
    return taken == buckets.count();
  }

  /** Makes rows of what a source gives. */
  void importFrom(RowSource source) {
    long rowBytes = 4L * config.rowFloats();
    long buffer =
        table.allocator().allocate(BLOCK * rowBytes, "table " + config.name() + " import");
    try {
      long[] block = new long[BLOCK];
      RowLookup lookup = new RowLookup();
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
    if (stay && !RowLayout.keepsId(config)) {
      RowPipe.run(
          config,
          block -> source.next(block.rows()),
          placing::place,
          block -> block.scatter(0, block.count()));
    } else {
      RowPipe.run(config, block -> source.next(block.rows()), placing::fill);
    }
  }

  /** Makes rows for the ids of blocks, in order. */
  private final class Placing {
    private final long[] ids = new long[BLOCK];
    private final RowLookup lookup = new RowLookup();
    private boolean started;
    private long last;

    /** Says where the rows of a block are to lie. */
    void place(PlacedBlock block) {
      requireAscending(block);
      for (int from = 0; from < block.count(); from += BLOCK) {
        place(block, from);
      }
    }

    /** Likewise, and fills them. */
    void fill(PlacedBlock block) {
      requireAscending(block);
      for (int from = 0; from < block.count(); from += BLOCK) {
        int count = place(block, from);
        block.scatter(from, from + count);
        for (int i = 0; i < count && RowLayout.keepsId(config); i++) {
          enter(ids[i], lookup.rows[i]);
        }
      }
    }

    private int place(PlacedBlock block, int from) {
      int count = Math.min(BLOCK, block.count() - from);
      System.arraycopy(block.ids(), from, ids, 0, count);
      table.importNew(ids, count, lookup);
      System.arraycopy(lookup.addresses, 0, block.places(), from, count);
      return count;
    }

    /** So that no id comes twice. */
    private void requireAscending(PlacedBlock block) {
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
    Memory.copy(values + 4L * width, row + RowLayout.weightBytes(config), stateBytes);
    if (RowLayout.keepsId(config)) {
      enter(id, number);
    }
  }

  /** Completes a row that holds its id. */
  private void enter(long id, int number) {
    Memory.setLong(rows.address(number) + RowLayout.idOffset(config), id);
    if (!residents.enterAgain(id, number)) {
      throw new IllegalArgumentException(
          "table %s: got id %d last seen in a step, or so often, as cannot be; the source is damaged"
              .formatted(config.name(), id));
    }
  }
}
