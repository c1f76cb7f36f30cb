package dev.tern.internal.table.rows;

import dev.tern.optim.Optimizer;

/**
 * The constants of one optimizer step on the rows of a table. Mutable, so that training sets them
 * anew in each step without garbage: an update changes them, and loops only read them.
 */
public final class OptimizerStep {
  final Optimizer optimizer;

  /** Weights of a row that the step updates. */
  final int width;

  /** Times the weight is added to the gradient. */
  final float l2;

  /** Learning rate. */
  float rate;

  /** Learning rate; for Adam divided by {@code 1 - beta1^t}. */
  float lr;

  /** For Adam {@code 1 / (1 - beta2^t)}, else 1. */
  float vScale = 1;

  /** Number of the step, {@code t}, counted from 1. */
  long number;

  private final Powers powers1;
  private final Powers powers2;

  public OptimizerStep(Optimizer optimizer, int width, float l2) {
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

  /** Makes it step {@code step}, counted from 1, at a learning rate of {@code rate}. */
  public OptimizerStep at(float rate, long step) {
    this.rate = rate;
    lr = rate;
    number = step;
    if (optimizer instanceof Optimizer.Adam adam) {
      lr = (float) (rate / (1 - StrictMath.pow(adam.beta1(), step)));
      vScale = (float) (1 / (1 - StrictMath.pow(adam.beta2(), step)));
    }
    return this;
  }

  /** Copies number and learning rate of a step of the same optimizer; l2 and width stay. */
  OptimizerStep like(OptimizerStep other) {
    rate = other.rate;
    lr = other.lr;
    vScale = other.vScale;
    number = other.number;
    return this;
  }

  /** Whether the step leaves weights and state as they are. */
  boolean changesNothing() {
    return optimizer instanceof Optimizer.Ftrl && lr == 0;
  }

  /** Whether the step updates all rows of the table. */
  boolean updatesAllRows() {
    return optimizer instanceof Optimizer.Adam adam && !adam.lazy();
  }

  /** {@code beta1^k} of Adam for {@code k} of 0 or more. */
  float decay1(int k) {
    return (float) powers1.of(k);
  }

  /** {@code beta2^k} of Adam for {@code k} of 0 or more. */
  float decay2(int k) {
    return (float) powers2.of(k);
  }
}
