package dev.tern.internal.table.rows;

/**
 * What one optimizer step changes, and scratch for it: weight {@code j} of row {@code i} lies at
 * {@code weights[i] + 4 * j}, its state {@code width} floats behind {@code states[i] + 4 * j}, and
 * its gradient is element {@code (i, j)} of {@link #gradients}. Rows {@code i} are those of the
 * gradients, {@link #ROWS} at most in the loops of {@link ScalarSteps} and {@link VectorSteps}.
 *
 * <p>One update owns it, and one thread at a time uses it.
 */
final class StepBlock {
  /** Rows per round over the columns: few enough that they stay in the nearest cache. */
  static final int ROWS = 64;

  /** Partial sums per row: column {@code j} adds to number {@code j % 8}. */
  static final int SUMS = 8;

  long[] weights = {};
  long[] states = {};
  final MatrixBlock gradients = new MatrixBlock();

  // Scratch, per row of a round.
  final float[] squares = new float[SUMS * ROWS];
  final float[] rates = new float[ROWS];
  final float[] decays1 = new float[ROWS];
  final float[] decays2 = new float[ROWS];
}
