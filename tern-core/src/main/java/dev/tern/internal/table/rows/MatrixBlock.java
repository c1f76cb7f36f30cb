package dev.tern.internal.table.rows;

/**
 * Rows {@code [from, to)} and columns {@code [begin, end)} of a row-major matrix of floats in
 * memory. Element {@code (i, j)} lies at {@code base + i * stride + 4 * j}. Example: with base 1000
 * and a stride of 64 bytes, element (2, 3) lies at 1000 + 128 + 12.
 */
public final class MatrixBlock {
  // Address of row 0, also if it lies outside the block; bytes from one row to the next.
  public long base;
  public long stride;
  int from;
  int to;
  public int begin;
  public int end;

  public MatrixBlock at(long address, long bytes) {
    base = address;
    stride = bytes;
    return this;
  }

  public MatrixBlock rows(int first, int last) {
    from = first;
    to = last;
    return this;
  }

  public MatrixBlock columns(int first, int last) {
    begin = first;
    end = last;
    return this;
  }

  /** Address of element {@code (row, column)}. */
  long at(int row, int column) {
    return base + row * stride + 4L * column;
  }
}
