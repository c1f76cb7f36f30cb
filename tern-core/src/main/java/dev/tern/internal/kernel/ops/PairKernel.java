package dev.tern.internal.kernel.ops;

/**
 * The loops of {@link PairSums}. Every fourth vector of a row is added to the same one of four
 * sums, in order; the four sums are added in a tree. Elements of the result are added in {@code
 * ReductionLanes}. So implementations differ in speed, never in bits.
 */
interface PairKernel {
  /** A row: {@code n} vectors, each of {@code d} floats. */
  record Row(int n, int d) {
    long bytes() {
      return 4L * n * d;
    }
  }

  /** Computes the sum of each row; {@code scratch} has {@link PairSums#scratchBytes} bytes. */
  void forward(Row row, long x, long out, long scratch, int rows);

  /** Computes the gradient of each row; {@code gradient} has one float for each. */
  void backward(Row row, long x, long gradient, long out, int rows);
}
