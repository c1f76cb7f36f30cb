package dev.tern.train;

import dev.tern.tensor.DType;

/** Writes rows into a table's file, block after block. */
final class RowWriter {
  private final LongColumn ids;
  private final RowColumns columns;
  private long row;

  RowWriter(RowShape shape, SafeTensors file) {
    ids = new LongColumn(file, TableFile.IDS);
    columns = new RowColumns(shape, file);
  }

  /** The arrays of a file of {@code rows} rows. */
  static SafeTensors.Layout layout(RowShape shape, long rows) {
    SafeTensors.Layout layout =
        new SafeTensors.Layout()
            .add(TableFile.IDS, DType.I64, rows)
            .add(RowColumns.WEIGHTS, shape.storage(), rows, shape.width())
            .add(RowColumns.STATE, DType.F32, rows, shape.state());
    return shape.metadata() == 0
        ? layout
        : layout.add(RowColumns.METADATA, DType.I32, rows, shape.metadata());
  }

  /** Writes {@code count} rows, packed at address {@code values}, behind those before. */
  void append(long[] blockIds, long values, int count) {
    ids.append(blockIds, count);
    columns.write(row, values, count);
    row += count;
  }
}
