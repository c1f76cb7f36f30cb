package dev.tern.embedding;

import dev.tern.optim.Optimizer;

/**
 * Constants of one optimizer step on the rows of a table.
 *
 * @param optimizer update rule
 * @param width weights per row
 * @param l2 times the weight is added to the gradient
 * @param lr learning rate; for Adam already divided by {@code 1 - beta1^t}
 * @param vScale for Adam {@code 1 / (1 - beta2^t)}, else 1
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

  /** The same step without the pull of l2. */
  Step withoutL2() {
    return new Step(optimizer, width, 0, lr, vScale);
  }
}
