package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.UnknownRow;
import java.nio.file.Path;
import java.util.List;

/**
 * The rows of {@link UnknownRow.Hashed} in a table's file: {@code buckets} (as the table stores
 * weights, {@code [K, W]}) and {@code bucket_state} (F32, {@code [K, floats of optimizer state]}).
 * Written or read in order, block after block.
 */
public final class BucketColumns {
  static final String BUCKETS = "buckets";
  static final String STATE = "bucket_state";

  private final RowShape shape;
  private final RowColumns columns;
  private final int count;
  private int row;

  /** From the first on, of a file that holds {@code count}. */
  BucketColumns(RowShape shape, SafeTensors file, int count) {
    this.shape = shape;
    this.count = count;
    RowShape plain = new RowShape(shape.storage(), shape.width(), shape.state(), 0);
    columns = new RowColumns(plain, file, BUCKETS, STATE);
  }

  /** Adds the arrays of {@code count} rows to a file's; none for 0. */
  static void layout(SafeTensors.Layout layout, RowShape shape, int count) {
    if (count > 0) {
      layout
          .add(BUCKETS, shape.storage(), count, shape.width())
          .add(STATE, DType.F32, count, shape.state());
    }
  }

  /** How many a file holds, 0 for none; what it holds must be as {@code shape} says. */
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
    TableReader.requireShape(path, file, BUCKETS, count, shape.width());
    TableReader.requireType(path, file, BUCKETS, shape.storage());
    TableReader.requireShape(path, file, STATE, count, shape.state());
    TableReader.requireType(path, file, STATE, DType.F32);
    return (int) count;
  }

  /** Writes rows behind those before. */
  void append(RowBlock block) {
    columns.write(row, block);
    row += block.count();
  }

  /** Writes all rows of {@code source}. */
  void appendAll(BucketColumns source) {
    try (RowBlock block = new RowBlock(shape.storage(), shape.width(), shape.state(), 0)) {
      while (source.next(block)) {
        append(block);
      }
    }
  }

  /** Reads the next rows, their numbers for ids; as {@link RowBlock.Source}. */
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
