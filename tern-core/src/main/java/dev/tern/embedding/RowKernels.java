package dev.tern.embedding;

import dev.tern.optim.Optimizer;

/**
 * The loops over rows of a table. Two versions with the same bits: scalar, and on the Vector API
 * where the module {@code jdk.incubator.vector} is present. Every sum over rows goes in the order
 * given; every multiply-add that is fused in one version is fused in the other.
 */
interface RowKernels {
  /** Copies {@code count} rows of {@code width} floats; row i goes to {@code out + i * stride}. */
  void gather(
      long[] addresses, int[] inverse, int from, int count, int width, long out, long stride);

  /** Adds up the rows of positions {@code from} to {@code to - 1}, at least one; times scale. */
  void sum(long[] addresses, int[] inverse, int from, int to, int width, float scale, long out);

  /**
   * Adds up the gradients of bags {@code order[from]} to {@code order[to - 1]}, at least one, each
   * times the scale of its bag.
   */
  void merge(
      long grad, long stride, int[] order, int from, int to, float[] scales, int width, long out);

  /** One step of an optimizer on {@code count} rows. */
  void update(Step step, long[] rows, long[] grads, int count);

  /**
   * Constants of one optimizer step.
   *
   * @param optimizer update rule
   * @param width weights per row
   * @param l2 times the weight is added to the gradient
   * @param lr learning rate; for Adam already divided by {@code 1 - beta1^t}
   * @param vScale for Adam {@code 1 / (1 - beta2^t)}
   */
  record Step(Optimizer optimizer, int width, float l2, float lr, float vScale) {
    static Step of(TableConfig config, float lr, long step) {
      float scaled = lr;
      float vScale = 1;
      if (config.optimizer() instanceof Optimizer.Adam adam) {
        scaled = (float) (lr / (1 - StrictMath.pow(adam.beta1(), step)));
        vScale = (float) (1 / (1 - StrictMath.pow(adam.beta2(), step)));
      }
      return new Step(config.optimizer(), config.width(), config.l2(), scaled, vScale);
    }
  }

  /** The fastest version for this process. */
  static RowKernels best() {
    return new ScalarRows();
  }
}
