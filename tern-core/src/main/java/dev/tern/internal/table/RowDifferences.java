package dev.tern.internal.table;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.rows.Int8Rows;
import dev.tern.internal.table.rows.RowLayout;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowReads;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.function.BooleanSupplier;

/**
 * Of the rows of a source, those that a table has not, or has otherwise: as it would hold them.
 * Notes which rows of the table the source has at all, by a bit for each.
 */
final class RowDifferences implements RowSource, AutoCloseable {
  private static final int YIELD_ROWS = 256;

  private final TableRows table;
  private final TableConfig config;
  private final RowSource source;
  private final BooleanSupplier goOn;
  private final RowReads loops;
  private final RowLookup lookup = new RowLookup();
  private final BitSet seen = new BitSet();
  private final long rowBytes;
  private final long scratch;
  private boolean ended;

  /**
   * @param goOn is asked before each block of rows; false ends the walk
   */
  RowDifferences(TableRows table, RowSource source, BooleanSupplier goOn) {
    this.table = table;
    this.source = source;
    this.goOn = goOn;
    config = table.config();
    loops = RowReads.fastest(config);
    rowBytes = 4L * config.rowFloats();
    scratch =
        table.allocator().allocate(RowLayout.weightBytes(config), config.holder("difference"));
  }

  @Override
  public int next(long[] ids, MemorySegment values) {
    while (goOn.getAsBoolean()) {
      int count = source.next(ids, values);
      if (count == 0) {
        ended = true;
        return 0;
      }
      int kept = keepDiffering(ids, values.address(), count);
      if (kept > 0) {
        return kept;
      }
    }
    return 0;
  }

  /** Moves the rows that differ to the front; returns their number. */
  private int keepDiffering(long[] ids, long values, int count) {
    lookup.fillDistinct(ids, count);
    table.locate(lookup);
    int kept = 0;
    for (int i = 0; i < count; i++) {
      long row = values + i * rowBytes;
      boolean has = lookup.rows[i] >= 0;
      if (has) {
        seen.set(lookup.rows[i]);
      }
      if (!has || differs(row, lookup.addresses[i])) {
        ids[kept] = ids[i];
        Memory.copy(row, values + kept * rowBytes, rowBytes);
        kept++;
      }
      if (i % YIELD_ROWS == YIELD_ROWS - 1) {
        Thread.yield(); // Who scores meanwhile on this processor should not wait for all.
      }
    }
    return kept;
  }

  /** Whether the row of floats would be another in the table than the one at {@code stored}. */
  private boolean differs(long floats, long stored) {
    int width = config.width();
    if (config.format() == RowFormat.INT8) {
      Int8Rows.set(DType.F32, floats, width, scratch);
      int scaleAt = Int8Rows.scaleAt(width);
      boolean same = Memory.getInt(scratch + scaleAt) == Memory.getInt(stored + scaleAt);
      for (int j = 0; j < width && same; j++) {
        same = Memory.getByte(scratch + j) == Memory.getByte(stored + j);
      }
      return !same;
    }
    for (int j = 0; j < width; j++) {
      if (Float.floatToRawIntBits(loops.get(stored, j)) != Memory.getInt(floats + 4L * j)) {
        return true;
      }
    }
    long state = stored + RowLayout.weightBytes(config);
    for (int j = 0; j < config.stateFloats(); j++) {
      if (Memory.getInt(state + 4L * j) != Memory.getInt(floats + 4L * (width + j))) {
        return true;
      }
    }
    return false;
  }

  /** Whether the source came to its end. */
  boolean isWhole() {
    return ended;
  }

  /** The ids that the table has and the source, which came to its end, has not; else none. */
  long[] absent() {
    if (!ended || seen.cardinality() == table.size()) {
      return new long[0];
    }
    long[] ids = new long[Math.toIntExact(table.size() - seen.cardinality())];
    int[] count = {0};
    table.forEachEntry((id, row) -> {
      if (!seen.get(row)) {
        ids[count[0]++] = id;
      }
    });
    return ids;
  }

  @Override
  public void close() {
    table.allocator().free(scratch);
  }
}
