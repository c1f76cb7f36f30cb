package dev.tern.internal.kernel;

/**
 * The loops of {@link DotInteraction} over {@code rows} rows, each of {@code n} vectors of {@code
 * d} floats. Every result starts from zero and takes its terms by fused multiply-add in ascending
 * order, of the element for a product and of the other vector for a gradient: implementations
 * differ in speed, never in bits.
 */
interface DotKernel {
  void forward(long x, long out, long scratch, int rows, int n, int d);

  void backward(long x, long gradient, long out, int rows, int n, int d);
}
