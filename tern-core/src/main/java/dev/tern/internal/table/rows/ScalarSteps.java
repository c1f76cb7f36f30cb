package dev.tern.internal.table.rows;

import static dev.tern.internal.memory.Memory.getFloat;
import static dev.tern.internal.memory.Memory.getInt;
import static dev.tern.internal.memory.Memory.setFloat;
import static dev.tern.internal.memory.Memory.setInt;
import static dev.tern.internal.memory.Memory.setShort;

import dev.tern.base.DType;
import dev.tern.internal.kernel.Halves;
import dev.tern.internal.table.index.Hashing;
import dev.tern.optim.Optimizer;

/**
 * The loops of {@link UpdateLoops} on column {@code j}. {@link Optimizer} has the equations: {@code
 * w} is a weight, {@code g} its gradient with {@code l2 * w} added.
 */
final class ScalarSteps {
  private ScalarSteps() {}

  static void sumGradients(
      RowLookup lookup, int[] bags, MatrixBlock gradients, MatrixBlock sums, int j) {
    int[] starts = lookup.starts;
    float[] scales = lookup.scales;
    for (int u = sums.from; u < sums.to; u++) {
      int end = starts[u + 1];
      float sum = 0;
      for (int i = starts[u]; i < end; i++) {
        sum = Math.fma(scales[i], getFloat(gradients.at(bags[i], j)), sum);
      }
      setFloat(sums.at(u, j), sum);
    }
  }

  static void addRows(MatrixBlock rows, int[] targets, int[] sources, int count, int j) {
    for (int i = 0; i < count; i++) {
      long target = rows.at(targets[i], j);
      setFloat(target, getFloat(target) + getFloat(rows.at(sources[i], j)));
    }
  }

  static void addSquares(OptimizerStep step, StepBlock block, int j) {
    float[] squares = block.squares;
    int from = block.from();
    for (int i = from; i < block.to(); i++) {
      float g = Math.fma(step.l2, getFloat(block.weight(i, j)), getFloat(block.gradient(i, j)));
      int sum = StepBlock.SUMS * (i - from) + (j & 7);
      squares[sum] = Math.fma(g, g, squares[sum]);
    }
  }

  static void addSquares(StepBlock block, int j) {
    float[] squares = block.squares;
    int from = block.from();
    for (int i = from; i < block.to(); i++) {
      float g = getFloat(block.gradient(i, j));
      int sum = StepBlock.SUMS * (i - from) + (j & 7);
      squares[sum] = Math.fma(g, g, squares[sum]);
    }
  }

  /** Adds up the partial sums of a row. */
  private static float total(float[] squares, int row) {
    int p = StepBlock.SUMS * row;
    float even = (squares[p] + squares[p + 4]) + (squares[p + 2] + squares[p + 6]);
    float odd = (squares[p + 1] + squares[p + 5]) + (squares[p + 3] + squares[p + 7]);
    return even + odd;
  }

  /**
   * Sets {@link StepBlock#rates} to the factor that limits the norm of each gradient: {@code norm /
   * max(own norm, norm)}. Example: norm 1 and a gradient of norm 4 give 0.25.
   *
   * <p>If the sum of squares overflows, it is computed again in doubles. A gradient that is not
   * finite gets the factor 0 or NaN.
   */
  static void clipFactors(float norm, StepBlock block) {
    MatrixBlock gradients = block.gradients;
    for (int i = gradients.from; i < gradients.to; i++) {
      float total = total(block.squares, i - gradients.from);
      double own = total < Float.POSITIVE_INFINITY ? (float) Math.sqrt(total) : norm(gradients, i);
      block.rates[i - gradients.from] = (float) (norm / Math.max(own, norm));
    }
  }

  private static double norm(MatrixBlock gradients, int i) {
    double squares = 0;
    for (int j = gradients.begin; j < gradients.end; j++) {
      double g = getFloat(gradients.at(i, j));
      squares += g * g;
    }
    return Math.sqrt(squares);
  }

  static void scale(StepBlock block, int j) {
    int from = block.from();
    for (int i = from; i < block.to(); i++) {
      long at = block.gradient(i, j);
      setFloat(at, block.rates[i - from] * getFloat(at));
    }
  }

  static void clamp(StepBlock block, float low, float high, int j) {
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      setFloat(row, Math.min(Math.max(getFloat(row), low), high));
    }
  }

  static void storeF16(long[] rows, MatrixBlock weights, int j) {
    for (int i = weights.from; i < weights.to; i++) {
      StoredWeights.set(DType.F16, rows[i], j, getFloat(weights.at(i, j)));
    }
  }

  static void storeBf16(long[] rows, int[] keys, MatrixBlock weights, int j) {
    for (int i = weights.from; i < weights.to; i++) {
      float weight = getFloat(weights.at(i, j));
      setShort(rows[i] + 2L * j, Halves.stochasticBf16(weight, Hashing.noise(keys[i], j)));
    }
  }

  static void update(OptimizerStep step, StepBlock block, int j) {
    switch (step.optimizer) {
      case Optimizer.Sgd _ -> sgd(step, block, j);
      case Optimizer.Momentum rule -> momentum(step, rule, block, j);
      case Optimizer.Nesterov rule -> nesterov(step, rule, block, j);
      case Optimizer.Adagrad rule -> adagrad(step, rule, block, j);
      case Optimizer.RowWiseAdagrad _ -> rowWise(step, block, j);
      case Optimizer.RmsProp rule -> rmsProp(step, rule, block, j);
      case Optimizer.Adam rule -> adam(step, rule, block, j);
      case Optimizer.Ftrl rule -> ftrl(step, rule, block, j);
    }
  }

  private static void sgd(OptimizerStep step, StepBlock block, int j) {
    float down = -step.lr;
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      float w = getFloat(row);
      float g = Math.fma(step.l2, w, getFloat(block.gradient(i, j)));
      setFloat(row, Math.fma(down, g, w));
    }
  }

  private static void momentum(
      OptimizerStep step, Optimizer.Momentum rule, StepBlock block, int j) {
    float down = -step.lr;
    float keep = rule.momentum();
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      long state = block.state(i, j);
      float w = getFloat(row);
      float g = Math.fma(step.l2, w, getFloat(block.gradient(i, j)));
      float a = Math.fma(keep, getFloat(state), down * g);
      setFloat(state, a);
      setFloat(row, w + a);
    }
  }

  private static void nesterov(
      OptimizerStep step, Optimizer.Nesterov rule, StepBlock block, int j) {
    float down = -step.lr;
    float keep = rule.momentum();
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      long state = block.state(i, j);
      float w = getFloat(row);
      float g = Math.fma(step.l2, w, getFloat(block.gradient(i, j)));
      float a = Math.fma(keep, getFloat(state), g);
      setFloat(state, a);
      setFloat(row, Math.fma(down, Math.fma(keep, a, g), w));
    }
  }

  private static void adagrad(OptimizerStep step, Optimizer.Adagrad rule, StepBlock block, int j) {
    float lr = step.lr;
    float eps = rule.eps();
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      long state = block.state(i, j);
      float w = getFloat(row);
      float g = Math.fma(step.l2, w, getFloat(block.gradient(i, j)));
      float s = Math.fma(g, g, getFloat(state));
      setFloat(state, s);
      setFloat(row, w - lr * g / ((float) Math.sqrt(s) + eps));
    }
  }

  /** Adds the mean squared gradient of each row to its state, and sets its learning rate. */
  static void rowRates(OptimizerStep step, Optimizer.RowWiseAdagrad rule, StepBlock block) {
    float share = 1f / step.width;
    int from = block.from();
    for (int i = from; i < block.to(); i++) {
      long state = block.state(i, 0);
      float s = Math.fma(total(block.squares, i - from), share, getFloat(state));
      setFloat(state, s);
      block.rates[i - from] = step.lr / ((float) Math.sqrt(s) + rule.eps());
    }
  }

  private static void rowWise(OptimizerStep step, StepBlock block, int j) {
    int from = block.from();
    for (int i = from; i < block.to(); i++) {
      long row = block.weight(i, j);
      float w = getFloat(row);
      float g = Math.fma(step.l2, w, getFloat(block.gradient(i, j)));
      setFloat(row, Math.fma(-block.rates[i - from], g, w));
    }
  }

  private static void rmsProp(OptimizerStep step, Optimizer.RmsProp rule, StepBlock block, int j) {
    float lr = step.lr;
    float eps = rule.eps();
    float rho = rule.rho();
    float rest = 1 - rho;
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      long state = block.state(i, j);
      float w = getFloat(row);
      float g = Math.fma(step.l2, w, getFloat(block.gradient(i, j)));
      float s = Math.fma(rho, getFloat(state), rest * g * g);
      setFloat(state, s);
      setFloat(row, w - lr * g / ((float) Math.sqrt(s) + eps));
    }
  }

  /**
   * Sets how much the moments of each row decay for the steps without an update, and notes this
   * step as the row's last; returns whether any decay. Example: for a row last updated in step 3,
   * step 6 decays by {@code beta1^2} and {@code beta2^2}.
   */
  static boolean momentDecays(OptimizerStep step, StepBlock block) {
    long last = 12L * step.width;
    int number = (int) Math.min(step.number, Integer.MAX_VALUE);
    int from = block.from();
    boolean any = false;
    for (int i = from; i < block.to(); i++) {
      long state = block.states[i] + last;
      int skipped = Math.max(0, number - getInt(state) - 1);
      block.decays1[i - from] = (float) step.powers1.of(skipped);
      block.decays2[i - from] = (float) step.powers2.of(skipped);
      any |= skipped > 0;
      setInt(state, number);
    }
    return any;
  }

  static void decay(StepBlock block, int j) {
    int from = block.from();
    for (int i = from; i < block.to(); i++) {
      long m = block.state(i, j);
      long v = m + 4L * block.width;
      setFloat(m, block.decays1[i - from] * getFloat(m));
      setFloat(v, block.decays2[i - from] * getFloat(v));
    }
  }

  private static void adam(OptimizerStep step, Optimizer.Adam rule, StepBlock block, int j) {
    float lr = step.lr;
    float vScale = step.vScale;
    float eps = rule.eps();
    float beta1 = rule.beta1();
    float beta2 = rule.beta2();
    float rest1 = 1 - beta1;
    float rest2 = 1 - beta2;
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      long first = block.state(i, j);
      long second = first + 4L * step.width;
      float w = getFloat(row);
      float g = Math.fma(step.l2, w, getFloat(block.gradient(i, j)));
      float m = Math.fma(beta1, getFloat(first), rest1 * g);
      float v = Math.fma(beta2, getFloat(second), rest2 * g * g);
      setFloat(first, m);
      setFloat(second, v);
      setFloat(row, w - lr * m / ((float) Math.sqrt(v * vScale) + eps));
    }
  }

  private static void ftrl(OptimizerStep step, Optimizer.Ftrl rule, StepBlock block, int j) {
    float perRate = 1 / step.lr;
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      long linear = block.state(i, j);
      long squares = linear + 4L * step.width;
      float w = getFloat(row);
      float g = Math.fma(step.l2, w, getFloat(block.gradient(i, j)));
      float before = getFloat(squares);
      float n = Math.fma(g, g, before);
      float root = (float) Math.sqrt(n);
      float sigma = (root - (float) Math.sqrt(before)) * perRate;
      float z = Math.fma(-sigma, w, getFloat(linear) + g);
      setFloat(linear, z);
      setFloat(squares, n);
      float size = Math.max(Math.abs(z) - rule.l1(), 0);
      float pull = Math.fma(rule.beta() + root, perRate, rule.l2());
      float shrunk = pull > 0 ? size / pull : 0;
      setFloat(row, z > 0 ? -shrunk : shrunk);
    }
  }
}
