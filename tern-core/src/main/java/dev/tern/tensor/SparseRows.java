package dev.tern.tensor;

import dev.tern.base.Shape;
import java.util.Arrays;

/**
 * Writes compressed sparse rows (CSR), row by row. Grows as needed; {@link #clear} keeps its
 * memory. Not thread-safe.
 *
 * <pre>{@code
 * SparseRows rows = new SparseRows();
 * rows.newRow();
 * rows.push(3, 0.5f);
 * rows.newRow(); // an empty row
 * SparseTensor matrix = rows.toTensor(10); // 2 rows, 10 columns
 * }</pre>
 */
public final class SparseRows {
  private int[] offsets = new int[16];
  private long[] columns = new long[16];
  private float[] values = new float[16];
  private int rows;
  private int count;

  /** Begins a row. */
  public void newRow() {
    if (rows + 2 > offsets.length) {
      offsets = Arrays.copyOf(offsets, Math.multiplyExact(2, offsets.length));
    }
    rows++;
    offsets[rows] = count;
  }

  /** Appends the value 1 to the row. */
  public void push(long column) {
    push(column, 1);
  }

  /** Appends a value to the row. Columns may be in any order; values of equal columns add up. */
  public void push(long column, float value) {
    if (rows == 0) {
      throw new IllegalStateException(
          "sparse rows: got column " + column + " before a row, expected newRow first");
    }
    if (count == columns.length) {
      int doubled = Math.multiplyExact(2, count);
      columns = Arrays.copyOf(columns, doubled);
      values = Arrays.copyOf(values, doubled);
    }
    columns[count] = column;
    values[count++] = value;
    offsets[rows] = count;
  }

  /** Number of rows. */
  public int rows() {
    return rows;
  }

  /** Number of values in all rows. */
  public int count() {
    return count;
  }

  /** The values of each row, as sequences of one level. */
  public Levels levels() {
    return Levels.ofOffsets(Arrays.copyOf(offsets, rows + 1));
  }

  /** A copy of the columns of all rows. */
  public long[] columns() {
    return Arrays.copyOf(columns, count);
  }

  /** A copy of the values of all rows. */
  public float[] values() {
    return Arrays.copyOf(values, count);
  }

  /** Removes all rows. */
  public void clear() {
    rows = 0;
    count = 0;
  }

  /**
   * The matrix that was written, of {@code columnCount} columns.
   *
   * @throws IllegalArgumentException where a column is not below {@code columnCount}
   */
  public SparseTensor toTensor(int columnCount) {
    for (int row = 0; row < rows; row++) {
      for (int i = offsets[row]; i < offsets[row + 1]; i++) {
        if (columns[i] < 0 || columns[i] >= columnCount) {
          throw new IllegalArgumentException(
              "sparse rows: got column %d in row %d, expected 0 to %d; give more columns"
                  .formatted(columns[i], row, columnCount - 1));
        }
      }
    }
    Ragged ragged = Ragged.of(Tensor.of(Shape.of(count), values()), levels());
    return SparseTensor.of(ragged, Tensor.ofLongs(Shape.of(count), columns()), columnCount);
  }
}
