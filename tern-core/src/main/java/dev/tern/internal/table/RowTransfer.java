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
import dev.tern.internal.table.rows.Int8Rows;
import dev.tern.internal.table.rows.MatrixBlock;
import dev.tern.internal.table.rows.PlacedBlock;
import dev.tern.internal.table.rows.RowLayout;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowReads;
import dev.tern.internal.table.rows.RowSlabs;
import dev.tern.internal.table.rows.StoredWeights;
import dev.tern.internal.table.snapshot.RowCopies;
import dev.tern.internal.table.snapshot.RowListener;
import dev.tern.internal.table.snapshot.RowPipe;
import dev.tern.internal.table.snapshot.SortedRows;
import dev.tern.internal.table.tier.RowSpiller;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Exports and imports the rows of a table: as floats, or as they are stored. */
final class RowTransfer {
  /** Rows exported or imported at once as floats. */
  private static final int BLOCK = RowSpiller.LEAST_ROWS;

  private final TableRows table;
  private final TableConfig config;
  private final RowSlabs rows;
  private final RowAdmission residents;
  private final RowReads loops;

  RowTransfer(TableRows table, RowSlabs rows, RowAdmission residents, RowReads loops) {
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
    long buffer = table.allocator().allocate(4L * floats * BLOCK, config.holder("export"));
    try (Arena lent = Arena.ofConfined()) {
      MemorySegment values = Memory.segment(buffer, 4L * floats * BLOCK).reinterpret(lent, null);
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
        sink.accept(block, values.asSlice(0, 4L * floats * length), length);
      }
    } finally {
      table.allocator().free(buffer);
    }
  }

  /** Gives rows in order, as they are stored now or, with {@code copies}, as they were before. */
  void export(SortedRows sorted, Optional<RowCopies> copies, Consumer<RowBlock> sink) {
    RowLookup lookup = new RowLookup();
    RowPipe.run(
        config,
        block -> {
          int length = sorted.advance(block.places().length);
          block.take(sorted.ids(), sorted.at(), length);
          if (table.tier.isPresent()) {
            gatherFound(block, lookup);
          } else {
            gather(block, sorted.rows(), sorted.at(), copies);
          }
          return length > 0;
        },
        block -> sink.accept(block.rows()));
  }

  private void gather(PlacedBlock block, int[] numbers, int from, Optional<RowCopies> copies) {
    for (int i = 0; i < block.count(); i++) {
      int row = numbers[from + i];
      block.places()[i] = copies.isPresent() ? copies.get().address(row) : rows.address(row);
    }
    block.gather();
    if (copies.isPresent()) {
      copies.get().mend(block, numbers, from);
    }
  }

  /** Gathers rows that may lie in the file: these have no numbers. */
  private void gatherFound(PlacedBlock block, RowLookup lookup) {
    lookup.fill(block.ids(), block.count());
    table.find(lookup, false);
    // All ids are distinct, so row i is the row of id i.
    System.arraycopy(lookup.addresses, 0, block.places(), 0, block.count());
    block.gather();
    Reference.reachabilityFence(lookup); // it owns the copies of rows
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

  /** Gives the bucket rows in the same way, with their numbers for ids and without metadata. */
  void export(BucketRows buckets, Optional<RowCopies> copies, Consumer<RowBlock> sink) {
    int[] all = IntStream.range(0, buckets.count()).toArray();
    long[] numbers = Arrays.stream(all).asLongStream().toArray();
    try (PlacedBlock block = new PlacedBlock(config, 0, Arena.ofConfined())) {
      for (int from = 0; from < all.length; from += block.count()) {
        block.take(numbers, from, Math.min(block.places().length, all.length - from));
        gather(block, all, from, copies);
        sink.accept(block.rows());
      }
    }
  }

  /** Overwrites the bucket rows; returns whether the source gave exactly as many. */
  boolean restore(BucketRows buckets, RowBlock.Source source, RowListener watch) {
    int taken = 0;
    watch.begin();
    try (PlacedBlock block = new PlacedBlock(config, 0, Arena.ofConfined())) {
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
    long buffer = table.allocator().allocate(BLOCK * rowBytes, config.holder("import"));
    try (Arena lent = Arena.ofConfined()) {
      MemorySegment values = Memory.segment(buffer, BLOCK * rowBytes).reinterpret(lent, null);
      long[] block = new long[BLOCK];
      RowLookup lookup = new RowLookup();
      for (int count = source.next(block, values); count > 0; count = source.next(block, values)) {
        table.importRows(block, count, lookup);
        for (int i = 0; i < count; i++) {
          importRow(block[i], buffer + i * rowBytes, lookup.rows[i]);
        }
      }
    } finally {
      table.allocator().free(buffer);
    }
  }

  /** Makes rows of stored blocks. If rows {@code stay} in place, another thread fills them. */
  void importFrom(RowBlock.Source source, boolean stay) {
    Placing placing = new Placing(!stay || RowLayout.keepsId(config));
    RowPipe.run(config, block -> source.next(block.rows()), placing::place, placing::finish);
  }

  /** Makes rows for the ids of blocks, in order. */
  private final class Placing {
    /** Whether {@link #place} fills the rows; else {@link #finish} does on another thread. */
    private final boolean atOnce;

    private final long[] ids = new long[BLOCK];
    private final RowLookup lookup = new RowLookup();
    private boolean started;
    private long last;

    Placing(boolean atOnce) {
      this.atOnce = atOnce;
    }

    void place(PlacedBlock block) {
      requireAscending(block);
      for (int from = 0; from < block.count(); from += BLOCK) {
        int count = Math.min(BLOCK, block.count() - from);
        System.arraycopy(block.ids(), from, ids, 0, count);
        table.importNew(ids, count, lookup);
        System.arraycopy(lookup.addresses, 0, block.places(), from, count);
        if (atOnce) {
          block.scatter(from, from + count);
        }
        for (int i = 0; i < count && RowLayout.keepsId(config); i++) {
          enter(ids[i], lookup.rows[i]);
        }
      }
    }

    void finish(PlacedBlock block) {
      if (!atOnce) {
        block.scatter(0, block.count());
      }
    }

    /** Also makes sure that no id comes twice. */
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
      Int8Rows.set(DType.F32, values, width, row);
      return;
    }
    if (config.storage() == DType.F32) {
      Memory.copy(values, row, 4L * width);
    } else {
      for (int j = 0; j < width; j++) {
        StoredWeights.set(config.storage(), row, j, Memory.getFloat(values + 4L * j));
      }
    }
    long stateBytes = 4L * (config.rowFloats() - width);
    Memory.copy(values + 4L * width, row + RowLayout.weightBytes(config), stateBytes);
    if (RowLayout.keepsId(config)) {
      enter(id, number);
    }
  }

  /** Writes the id into a row, and gives the row to the policy. */
  private void enter(long id, int number) {
    Memory.setLong(rows.address(number) + RowLayout.idOffset(config), id);
    if (!residents.enterAgain(id, number)) {
      throw new IllegalArgumentException(
          "table %s: got id %d last seen in a step, or so often, as cannot be; the source is damaged"
              .formatted(config.name(), id));
    }
  }
}
