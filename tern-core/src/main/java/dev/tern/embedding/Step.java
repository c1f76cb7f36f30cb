package dev.tern.embedding;

import dev.tern.optim.Optimizer;

/**
 * Constants of one optimizer step on the rows of a table; set anew for each step, so that steps
 * make no garbage.
 */
final class Step {
  private final Optimizer optimizer;
  private final int width;
  private final float l2;
  private float rate;
  private float lr;
  private float vScale = 1;
  private long number;

  /** Of Adam. */
  private final Powers powers1;

  private final Powers powers2;

  /**
   * @param optimizer update rule
   * @param width weights of a row that it updates
   * @param l2 times the weight is added to the gradient
   */
  Step(Optimizer optimizer, int width, float l2) {
    this.optimizer = optimizer;
    this.width = width;
    this.l2 = l2;
    if (optimizer instanceof Optimizer.Adam adam) {
      powers1 = new Powers(adam.beta1());
      powers2 = new Powers(adam.beta2());
    } else {
      powers1 = new Powers(0);
      powers2 = powers1;
    }
  }

  /** Makes it step {@code step}, counted from 1, at {@code rate}. */
  Step at(float rate, long step) {
    this.rate = rate;
    lr = rate;
    number = step;
    if (optimizer instanceof Optimizer.Adam adam) {
      lr = (float) (rate / (1 - StrictMath.pow(adam.beta1(), step)));
      vScale = (float) (1 / (1 - StrictMath.pow(adam.beta2(), step)));
    }
    return this;
  }

  /** Makes it the step that {@code other} is, but for the pull of l2. */
  Step like(Step other) {
    rate = other.rate;
    lr = other.lr;
    vScale = other.vScale;
    number = other.number;
    return this;
  }

  /** {@code beta1^k} of Adam for {@code k} of 0 or more. */
  float decay1(int k) {
    return (float) powers1.of(k);
  }

  /** {@code beta2^k}. */
  float decay2(int k) {
    return (float) powers2.of(k);
  }

  Optimizer optimizer() {
    return optimizer;
  }

  int width() {
    return width;
  }

  float l2() {
    return l2;
  }

  /** Which step it is, counted from 1. */
  long number() {
    return number;
  }

  /** Learning rate. */
  float rate() {
    return rate;
  }

  /** Learning rate; for Adam already divided by {@code 1 - beta1^t}. */
  float lr() {
    return lr;
  }

  /** For Adam {@code 1 / (1 - beta2^t)}, else 1. */
  float vScale() {
    return vScale;
  }
}
