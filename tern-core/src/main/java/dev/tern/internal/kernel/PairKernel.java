package dev.tern.internal.kernel;

/**
 * The loops of {@link PairSums} over {@code rows} rows, each of {@code n} vectors of {@code d}
 * floats. Every fourth vector is added up apart, in order, then the four sums as a tree; elements
 * of the result in {@link Lanes}: implementations differ in speed, never in bits.
 */
interface PairKernel {
  /** {@code scratch}: address of {@link PairSums#scratchBytes} bytes. */
  void forward(long x, long out, long scratch, int rows, int n, int d);

  /** {@code gradient} holds one float a row. */
  void backward(long x, long gradient, long out, int rows, int n, int d);
}
