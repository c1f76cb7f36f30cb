package dev.tern.internal.table.rows;

import dev.tern.optim.Optimizer;

/** The constants of one optimizer step on the rows of a table; loops only read them. */
public final class OptimizerStep {
  final Optimizer optimizer;

  /** Weights of a row that the step updates. */
  final int width;

  /** The gradient gets {@code l2} times the weight added. */
  final float l2;

  // The step t, counted from 1, and its learning rate.
  long number;
  float rate;

  // For Adam rate / (1 - beta1^t) and 1 / (1 - beta2^t), else rate and 1.
  float lr;
  float vScale = 1;

  // Of Adam's betas.
  final Powers powers1;
  final Powers powers2;

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

  /** Sets step, counted from 1, and learning rate. */
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

  boolean changesNothing() {
    return optimizer instanceof Optimizer.Ftrl && lr == 0;
  }
}
