package dev.tern.files.parquet;

import org.apache.parquet.format.RowGroup;

/** What fills one column of batches with the rows of a file, row group after row group. */
interface RowColumn {
  /** Goes to the start of a row group. */
  void open(RowGroup group);

  /** Goes over rows of the group. */
  void skip(long rows);

  /** Says so if the group has rows beyond its count. */
  void finishGroup();

  /** Fills this column of the rows of {@code span}. */
  void fill(ParquetSpan span);
}
