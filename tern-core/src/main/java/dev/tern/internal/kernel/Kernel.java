package dev.tern.internal.kernel;

/** The code of a fused elementwise kernel: three nested loops, written by {@code emit}. */
public interface Kernel {
  /**
   * Runs the kernel over {@code n0 x n1 x n} elements.
   *
   * @param addresses address of each operand's first element
   * @param strides bytes between the elements of operand {@code k} along the outer, middle and
   *     inner loop, at {@code 3 k}, {@code 3 k + 1} and {@code 3 k + 2}
   * @param scalars the constants of the kernel
   * @param scratch address of {@code Kernels.scratchBytes} bytes
   */
  void run(long[] addresses, long[] strides, int n0, int n1, int n, float[] scalars, long scratch);
}
