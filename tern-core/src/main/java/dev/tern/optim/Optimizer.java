package dev.tern.optim;

/**
 * An update rule with its constants. In the equations {@code w} is a weight, {@code g} its gradient
 * (with {@code l2 * w} already added), {@code lr} the learning rate of the step and {@code t} the
 * step, counted from 1. State starts at 0 unless an equation says otherwise.
 *
 * <p>On embedding rows every rule is lazy: rows that a batch does not touch keep weights and state.
 * {@link Adam} has options to update them too.
 */
public sealed interface Optimizer {
  /** The learning rate if no schedule sets another: 0 or more, with FTRL above 0. */
  float lr();

  /** Plain gradient descent: {@code w -= lr * g}. */
  record Sgd(float lr) implements Optimizer {
    public Sgd {
      requireAtLeastZero("lr", lr);
    }
  }

  /**
   * Gradient descent with momentum, as HugeCTR has it: {@code a = momentum * a - lr * g; w += a}.
   *
   * @param momentum share of the last move kept, in [0, 1)
   */
  record Momentum(float lr, float momentum) implements Optimizer {
    public Momentum {
      requireAtLeastZero("lr", lr);
      requireShare("momentum", momentum);
    }
  }

  /**
   * Nesterov's momentum, as PyTorch has it: {@code a = momentum * a + g; w -= lr * (g + momentum *
   * a)}.
   *
   * @param momentum share of the last direction kept, in [0, 1)
   */
  record Nesterov(float lr, float momentum) implements Optimizer {
    public Nesterov {
      requireAtLeastZero("lr", lr);
      requireShare("momentum", momentum);
    }
  }

  /**
   * Adagrad (Duchi et al. 2011): {@code s += g * g; w -= lr * g / (sqrt(s) + eps)}.
   *
   * @param initial first value of every {@code s}, 0 or more
   * @param eps added to the root, above 0
   */
  record Adagrad(float lr, float initial, float eps) implements Optimizer {
    public Adagrad {
      requireAtLeastZero("lr", lr);
      requireAtLeastZero("initial", initial);
      requirePositive("eps", eps);
    }
  }

  /**
   * Adagrad with one number of state for a whole embedding row: {@code s += mean(g * g); w -= lr /
   * (sqrt(s) + eps) * g}. On dense parameters each row of the last axis counts as a row.
   *
   * @param initial first value of every {@code s}, 0 or more
   * @param eps added to the root, above 0
   */
  record RowWiseAdagrad(float lr, float initial, float eps) implements Optimizer {
    public RowWiseAdagrad {
      requireAtLeastZero("lr", lr);
      requireAtLeastZero("initial", initial);
      requirePositive("eps", eps);
    }
  }

  /**
   * RMSProp (Tieleman and Hinton 2012), as PyTorch has it, neither centered nor with momentum:
   * {@code s = rho * s + (1 - rho) * g * g; w -= lr * g / (sqrt(s) + eps)}.
   *
   * @param rho decay of {@code s}, in [0, 1)
   * @param eps added to the root, above 0
   */
  record RmsProp(float lr, float rho, float eps) implements Optimizer {
    public RmsProp {
      requireAtLeastZero("lr", lr);
      requireShare("rho", rho);
      requirePositive("eps", eps);
    }
  }

  /**
   * Adam (Kingma and Ba 2015) in PyTorch's form: {@code m = beta1 * m + (1 - beta1) * g; v = beta2
   * * v + (1 - beta2) * g * g; w -= lr * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)}.
   *
   * @param beta1 decay of {@code m}, in [0, 1)
   * @param beta2 decay of {@code v}, in [0, 1)
   * @param eps added to the root, above 0
   * @param untouched what a step does to embedding rows that its batch does not touch
   */
  record Adam(float lr, float beta1, float beta2, float eps, Untouched untouched)
      implements Optimizer {
    /** What a step does to embedding rows that its batch does not touch. */
    public enum Untouched {
      /**
       * They are updated with {@code g = 0} (PyTorch's Adam on dense gradients), which walks the
       * whole table in every step.
       */
      UPDATED,
      /** They keep weights, {@code m} and {@code v} (PyTorch's SparseAdam). */
      KEPT,
      /**
       * They keep their weights, and {@code m} and {@code v} decay: when a batch touches a row
       * after {@code k} steps that did not, first {@code m = beta1^k * m; v = beta2^k * v}. The
       * moments are as with {@link #UPDATED}, at the cost of {@link #KEPT} and of one more number
       * of state for each row, the step of its last update.
       */
      DECAYED
    }

    public Adam {
      requireAtLeastZero("lr", lr);
      requireShare("beta1", beta1);
      requireShare("beta2", beta2);
      requirePositive("eps", eps);
    }

    /** Whether a step writes only rows that its batch touches. */
    public boolean lazy() {
      return untouched != Untouched.UPDATED;
    }

    /** Whether the moments of a row decay at its next update for the steps between. */
    public boolean decays() {
      return untouched == Untouched.DECAYED;
    }
  }

  /**
   * FTRL-Proximal (McMahan et al. 2013, algorithm 1; lr is its alpha): {@code n' = n + g * g; z +=
   * g - (sqrt(n') - sqrt(n)) / lr * w; n = n'; w = 0 where |z| <= l1, else (sign(z) * l1 - z) /
   * ((beta + sqrt(n)) / lr + l2)}.
   *
   * @param beta smooths the rate of rare weights, 0 or more
   * @param l1 draws weights to exactly zero, 0 or more
   * @param l2 shrinks weights, 0 or more
   */
  record Ftrl(float lr, float beta, float l1, float l2) implements Optimizer {
    public Ftrl {
      requirePositive("lr", lr);
      requireAtLeastZero("beta", beta);
      requireAtLeastZero("l1", l1);
      requireAtLeastZero("l2", l2);
    }
  }

  /** Plain gradient descent. */
  static Optimizer sgd(float lr) {
    return new Sgd(lr);
  }

  /** Momentum 0.9. */
  static Optimizer momentum(float lr) {
    return new Momentum(lr, 0.9f);
  }

  /** Nesterov's momentum 0.9. */
  static Optimizer nesterov(float lr) {
    return new Nesterov(lr, 0.9f);
  }

  /** Adagrad from 0 with eps 1e-7. */
  static Optimizer adagrad(float lr) {
    return new Adagrad(lr, 0, 1e-7f);
  }

  /** Row-wise Adagrad from 0 with eps 1e-7. */
  static Optimizer rowWiseAdagrad(float lr) {
    return new RowWiseAdagrad(lr, 0, 1e-7f);
  }

  /** RMSProp with rho 0.99 and eps 1e-8. */
  static Optimizer rmsProp(float lr) {
    return new RmsProp(lr, 0.99f, 1e-8f);
  }

  /** Adam with betas 0.9 and 0.999, eps 1e-8, over all rows in every step. */
  static Optimizer adam(float lr) {
    return new Adam(lr, 0.9f, 0.999f, 1e-8f, Adam.Untouched.UPDATED);
  }

  /** Adam with betas 0.9 and 0.999, eps 1e-8, over the rows that a batch touches. */
  static Optimizer lazyAdam(float lr) {
    return new Adam(lr, 0.9f, 0.999f, 1e-8f, Adam.Untouched.KEPT);
  }

  /** FTRL with beta 1 and no regularization. */
  static Optimizer ftrl(float lr) {
    return new Ftrl(lr, 1, 0, 0);
  }

  private static void requireAtLeastZero(String name, float value) {
    require(value >= 0 && Float.isFinite(value), name, value, "a finite number of 0 or more");
  }

  private static void requirePositive(String name, float value) {
    require(value > 0 && Float.isFinite(value), name, value, "a finite number above 0");
  }

  private static void requireShare(String name, float value) {
    require(value >= 0 && value < 1, name, value, "0 or more and below 1");
  }

  private static void require(boolean holds, String name, float value, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "optimizer: got %s %s, expected %s".formatted(name, value, expected));
    }
  }
}
