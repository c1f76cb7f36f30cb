package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.UnknownRow;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;

/**
 * The bucket rows of {@link UnknownRow.Hashed} in a table's file: {@code buckets} ({@code [K, W]},
 * in the storage type of the table) and {@code bucket_state} (F32, {@code [K, floats of optimizer
 * state]}). They are written or read in order, block after block.
 */
public final class BucketColumns {
  private static final String BUCKETS = "buckets";
  private static final String STATE = "bucket_state";

  private final RowShape shape;
  private final RowColumns columns;
  private final int count;
  private int row;

  /** For a file with {@code count} bucket rows. */
  BucketColumns(RowShape shape, SafeTensors file, int count) {
    this.shape = shape;
    this.count = count;
    RowShape plain = new RowShape(shape.storage(), shape.width(), shape.state(), 0);
    columns = new RowColumns(plain, file, BUCKETS, STATE);
  }

  /** Adds the arrays of {@code count} bucket rows to a layout; none for 0. */
  static void layout(SafeTensors.Layout layout, RowShape shape, int count) {
    if (count > 0) {
      layout
          .add(BUCKETS, shape.storage(), count, shape.width())
          .add(STATE, DType.F32, count, shape.state());
    }
  }

  /** Number of bucket rows in a file; throws if they do not have this shape. */
  static int count(Path path, SafeTensors file, RowShape shape) {
    if (!file.names().contains(BUCKETS) && !file.names().contains(STATE)) {
      return 0;
    }
    List<Long> sizes = file.entry(BUCKETS).shape();
    long count = sizes.isEmpty() ? 0 : sizes.getFirst();
    if (count < 1 || count > UnknownRow.Hashed.MOST) {
      throw new DataException(
          "%s: got %s of shape %s, expected 1 to %d rows; the file is damaged"
              .formatted(path, BUCKETS, sizes, UnknownRow.Hashed.MOST));
    }
    TableReader.requireArray(path, file, BUCKETS, shape.storage(), count, shape.width());
    TableReader.requireArray(path, file, STATE, DType.F32, count, shape.state());
    return (int) count;
  }

  void append(RowBlock block) {
    columns.write(row, block);
    row += block.count();
  }

  void appendAll(BucketColumns source) {
    try (RowBlock block =
        new RowBlock(shape.storage(), shape.width(), shape.state(), 0, Arena.ofConfined())) {
      while (source.next(block)) {
        append(block);
      }
    }
  }

  /** Reads the next rows, numbered from 0 as their ids; returns whether there were any. */
  public boolean next(RowBlock block) {
    block.setCount(Math.min(block.room(), count - row));
    for (int i = 0; i < block.count(); i++) {
      block.ids()[i] = row + i;
    }
    columns.read(row, block);
    row += block.count();
    return block.count() > 0;
  }
}
