package dev.tern.internal.table.rows;

/**
 * What one optimizer step changes, and scratch for it: weight {@code j} of row {@code i} lies at
 * {@code weights[i] + 4 * j}, its state at {@code states[i] + 4 * (width + j)}, and its gradient is
 * element {@code (i, j)} of {@link #gradients}, which has {@link #ROWS} rows at most.
 */
final class StepBlock {
  /** Rows per round over the columns: few enough that they stay in the nearest cache. */
  static final int ROWS = 64;

  /** Partial sums per row: column {@code j} adds to number {@code j % 8}. */
  static final int SUMS = 8;

  long[] weights = {};
  long[] states = {};

  /** Weights of a row that the step updates. */
  int width;

  final MatrixBlock gradients = new MatrixBlock();

  // Scratch for each row of a round.
  final float[] squares = new float[SUMS * ROWS];
  final float[] rates = new float[ROWS];
  final float[] decays1 = new float[ROWS];
  final float[] decays2 = new float[ROWS];

  int from() {
    return gradients.from;
  }

  int to() {
    return gradients.to;
  }

  long weight(int row, int column) {
    return weights[row] + 4L * column;
  }

  /** Address of the first state of a weight; a second one lies {@code width} floats behind it. */
  long state(int row, int column) {
    return states[row] + 4L * (width + column);
  }

  long gradient(int row, int column) {
    return gradients.at(row, column);
  }
}
