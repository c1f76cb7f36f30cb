package dev.tern.embedding;

import dev.tern.optim.Optimizer;
import java.util.Optional;

/**
 * Constants of one optimizer step on the rows of a table; set anew for each step, so that steps
 * make no garbage.
 */
final class Step {
  private final Optimizer optimizer;
  private final int width;
  private final float l2;
  private float lr;
  private float vScale = 1;
  private long number;

  /** Of Adam whose moments decay: {@code beta1^(2^i)} and {@code beta2^(2^i)}. */
  private final double[] powers1;

  private final double[] powers2;

  /**
   * @param optimizer update rule
   * @param width weights per row
   * @param l2 times the weight is added to the gradient
   */
  Step(Optimizer optimizer, int width, float l2) {
    this.optimizer = optimizer;
    this.width = width;
    this.l2 = l2;
    Optional<Optimizer.Adam> decaying =
        optimizer instanceof Optimizer.Adam adam && adam.decays()
            ? Optional.of(adam)
            : Optional.empty();
    powers1 = decaying.map(adam -> powers(adam.beta1())).orElse(new double[0]);
    powers2 = decaying.map(adam -> powers(adam.beta2())).orElse(new double[0]);
  }

  private static double[] powers(double base) {
    double[] powers = new double[Integer.SIZE - 1];
    double power = base;
    for (int i = 0; i < powers.length; i++) {
      powers[i] = power;
      power *= power;
    }
    return powers;
  }

  private static float power(double[] powers, int exponent) {
    double product = 1;
    for (int left = exponent; left > 0; left &= left - 1) {
      product *= powers[Integer.numberOfTrailingZeros(left)];
    }
    return (float) product;
  }

  /** Makes it step {@code step}, counted from 1, at {@code rate}. */
  Step at(float rate, long step) {
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
    lr = other.lr;
    vScale = other.vScale;
    number = other.number;
    return this;
  }

  /** {@code beta1^k} for {@code k} of 0 or more, where moments decay. */
  float decay1(int k) {
    return power(powers1, k);
  }

  /** {@code beta2^k}. */
  float decay2(int k) {
    return power(powers2, k);
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

  /** Learning rate; for Adam already divided by {@code 1 - beta1^t}. */
  float lr() {
    return lr;
  }

  /** For Adam {@code 1 / (1 - beta2^t)}, else 1. */
  float vScale() {
    return vScale;
  }
}
