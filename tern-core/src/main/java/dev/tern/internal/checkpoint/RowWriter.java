package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.RowSource;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Writes the rows of a table's file, block after block. */
public final class RowWriter {
  private static final int BLOCK = 256;

  private final RowShape shape;
  private final LongColumn ids;
  private final RowColumns columns;
  private final long rows;
  private long row;

  /** For a file with room for {@code rows} rows. */
  public RowWriter(RowShape shape, SafeTensors file, long rows) {
    this.shape = shape;
    this.rows = rows;
    ids = new LongColumn(file, TableFile.IDS);
    columns = new RowColumns(shape, file);
  }

  /** The arrays of a file of {@code rows} rows. */
  public static SafeTensors.Layout layout(RowShape shape, long rows) {
    SafeTensors.Layout layout =
        new SafeTensors.Layout()
            .add(TableFile.IDS, DType.I64, rows)
            .add(RowColumns.WEIGHTS, shape.storage(), rows, shape.width())
            .add(RowColumns.STATE, DType.F32, rows, shape.state());
    return shape.metadata() == 0
        ? layout
        : layout.add(RowColumns.METADATA, DType.I32, rows, shape.metadata());
  }

  public void appendAll(RowSource source) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment values = Memory.allocate(arena, BLOCK * shape.packedBytes(), 8, "rows written");
      long[] block = new long[BLOCK];
      for (int count = source.next(block, values); count > 0; count = source.next(block, values)) {
        append(block, values.address(), count);
      }
    }
    requireAll();
  }

  void append(RowBlock block) {
    requireRoom(block.count());
    ids.append(block.ids(), block.count());
    columns.write(row, block);
    row += block.count();
  }

  /** Appends {@code count} packed rows at address {@code values}. */
  void append(long[] blockIds, long values, int count) {
    requireRoom(count);
    ids.append(blockIds, count);
    columns.write(row, values, count);
    row += count;
  }

  /**
   * Throws if rows are missing; {@link #append} throws for too many. A table that changes while it
   * is saved must not leave a file that looks whole.
   */
  void requireAll() {
    if (row != rows) {
      throw changed(row);
    }
  }

  private void requireRoom(int count) {
    if (count > rows - row) {
      throw changed(row + count);
    }
  }

  private IllegalStateException changed(long got) {
    return new IllegalStateException(
        "checkpoint: got %d rows of a table that had %d when it began to be written, expected as many;"
                .formatted(got, rows)
            + " let nobody change tables while they are saved");
  }
}
