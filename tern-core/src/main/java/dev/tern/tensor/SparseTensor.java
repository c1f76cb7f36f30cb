package dev.tern.tensor;

import dev.tern.base.DType;
import dev.tern.base.Shape;

/**
 * A matrix of mostly zeros, {@code [rows, columns]}, as compressed sparse rows: a {@link Ragged} of
 * one level with the values, and a column for each value. Columns of a row may be in any order;
 * values of equal columns add up. Immutable; {@link SparseRows} writes one. Gradients go to the
 * values and to the dense matrix of a product.
 */
public final class SparseTensor {
  private final Ragged values;
  private final Tensor columns;
  private final int columnCount;

  private SparseTensor(Ragged values, Tensor columns, int columnCount) {
    this.values = values;
    this.columns = columns;
    this.columnCount = columnCount;
  }

  /**
   * A matrix whose rows are the sequences of {@code values}.
   *
   * @param values F32 {@code [n]} in sequences of one level
   * @param columns column of each value, I32 or I64 {@code [n]}, also of unused ones; checked when
   *     they are used
   */
  public static SparseTensor of(Ragged values, Tensor columns, int columnCount) {
    Shape shape = Shape.of(values.rows());
    boolean isWhole = columns.type() == DType.I32 || columns.type() == DType.I64;
    if (!values.values().shape().equals(shape) || values.depth() != 1) {
      throw new IllegalArgumentException(
          "sparse: got " + values + ", expected one number a row and one level");
    }
    if (!columns.shape().equals(shape) || !isWhole) {
      throw new IllegalArgumentException(
          "sparse: got columns %s, expected I32 or I64%s".formatted(columns, shape));
    }
    return new SparseTensor(values.unweighted(), columns, columnCount);
  }

  /** {@code [rows, columns]}. */
  public Shape shape() {
    return Shape.of(values.sequences(), columnCount);
  }

  /** The values, a sequence for each row. */
  public Ragged values() {
    return values;
  }

  /** The column of each value. */
  public Tensor columns() {
    return columns;
  }

  /** Other values in the same places, F32 {@code [n]}. */
  public SparseTensor with(Tensor others) {
    return of(values.with(others), columns, columnCount);
  }

  /** The product with {@code dense}, {@code [columns, d]}: {@code [rows, d]}. */
  public Tensor matmul(Tensor dense) {
    requireRows("matmul", dense, columnCount);
    return values.with(dense.gather(columns)).weighted(values.values()).pool(SequencePooling.SUM);
  }

  /** The product of the transposed matrix with {@code dense}, {@code [rows, d]}. */
  public Tensor transposedMatmul(Tensor dense) {
    requireRows("transposedMatmul", dense, values.sequences());
    Tensor rows = values.spread(dense).mul(RaggedPooling.column(values.values(), 2));
    Tensor present = RaggedPooling.column(values.present(), 2);
    return Tensor.scatterAdd(columns, present.select(rows, Tensor.scalar(0)), columnCount);
  }

  /** The matrix with its zeros, {@code [rows, columns]}. */
  public Tensor toDense() {
    return values.scatter(Tensor.zeros(shape()), columns);
  }

  private static void requireRows(String op, Tensor dense, int rows) {
    if (dense.shape().rank() != 2 || dense.shape().size(0) != rows) {
      throw new IllegalArgumentException(
          "%s: got %s, expected [%d, width]".formatted(op, dense.shape(), rows));
    }
  }

  @Override
  public String toString() {
    return "SparseTensor " + shape() + " of " + values.rows() + " values";
  }
}
