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
 * The loops of {@link UpdateLoops} on one column, {@code j}. Equations: {@link Optimizer}. In all
 * of them {@code w} is a weight, {@code g} its gradient with {@code l2 * w} added.
 */
final class ScalarSteps {
  private ScalarSteps() {}

  static void sumGradients(RowLookup lookup, MatrixBlock gradients, MatrixBlock sums, int j) {
    int[] starts = lookup.starts;
    int[] bags = lookup.bags;
    float[] scales = lookup.scales;
    long grad = gradients.base + 4L * j;
    long stride = gradients.stride;
    for (int u = sums.from; u < sums.to; u++) {
      int end = starts[u + 1];
      float sum = 0;
      for (int i = starts[u]; i < end; i++) {
        sum = Math.fma(scales[i], getFloat(grad + bags[i] * stride), sum);
      }
      setFloat(sums.base + u * sums.stride + 4L * j, sum);
    }
  }

  static void addSquares(OptimizerStep step, StepBlock block, int j) {
    float l2 = step.l2;
    long[] weights = block.weights;
    float[] squares = block.squares;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int from = block.gradients.from;
    int to = block.gradients.to;
    for (int i = from; i < to; i++) {
      float g = Math.fma(l2, getFloat(weights[i] + 4L * j), getFloat(grad + i * stride));
      int sum = StepBlock.SUMS * (i - from) + (j & 7);
      squares[sum] = Math.fma(g, g, squares[sum]);
    }
  }

  static void addSquares(StepBlock block, int j) {
    float[] squares = block.squares;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int from = block.gradients.from;
    int to = block.gradients.to;
    for (int i = from; i < to; i++) {
      float g = getFloat(grad + i * stride);
      int sum = StepBlock.SUMS * (i - from) + (j & 7);
      squares[sum] = Math.fma(g, g, squares[sum]);
    }
  }

  /** The sum of the partial sums of a row. */
  private static float total(float[] squares, int row) {
    int p = StepBlock.SUMS * row;
    float even = (squares[p] + squares[p + 4]) + (squares[p + 2] + squares[p + 6]);
    float odd = (squares[p + 1] + squares[p + 5]) + (squares[p + 3] + squares[p + 7]);
    return even + odd;
  }

  /**
   * Sets {@link StepBlock#rates} to what gradients are multiplied by so that their norms do not
   * exceed {@code norm}: {@code norm / max(own norm, norm)}. Example: norm 1 and a gradient of norm
   * 4 give 0.25.
   *
   * <p>Where the sum of squares is beyond the floats it is computed again in doubles. A gradient
   * that is not finite gets the factor 0 or NaN.
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
      double g = getFloat(gradients.base + i * gradients.stride + 4L * j);
      squares += g * g;
    }
    return Math.sqrt(squares);
  }

  static void scale(StepBlock block, int j) {
    float[] factors = block.rates;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int from = block.gradients.from;
    int to = block.gradients.to;
    for (int i = from; i < to; i++) {
      long at = grad + i * stride;
      setFloat(at, factors[i - from] * getFloat(at));
    }
  }

  static void clamp(StepBlock block, float low, float high, int j) {
    long[] weights = block.weights;
    int to = block.gradients.to;
    for (int i = block.gradients.from; i < to; i++) {
      long row = weights[i] + 4L * j;
      setFloat(row, Math.min(Math.max(getFloat(row), low), high));
    }
  }

  static void storeF16(long[] rows, MatrixBlock weights, int j) {
    long base = weights.base + 4L * j;
    long stride = weights.stride;
    int to = weights.to;
    for (int i = weights.from; i < to; i++) {
      ScalarHalves.set(DType.F16, rows[i], j, getFloat(base + i * stride));
    }
  }

  static void storeBf16(long[] rows, int[] keys, MatrixBlock weights, int j) {
    long base = weights.base + 4L * j;
    long stride = weights.stride;
    int to = weights.to;
    for (int i = weights.from; i < to; i++) {
      float weight = getFloat(base + i * stride);
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
    float l2 = step.l2;
    float down = -step.lr;
    long[] weights = block.weights;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int to = block.gradients.to;
    for (int i = block.gradients.from; i < to; i++) {
      long row = weights[i] + 4L * j;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride));
      setFloat(row, Math.fma(down, g, w));
    }
  }

  private static void momentum(
      OptimizerStep step, Optimizer.Momentum rule, StepBlock block, int j) {
    float l2 = step.l2;
    float down = -step.lr;
    float keep = rule.momentum();
    long state = 4L * (step.width + j);
    long[] weights = block.weights;
    long[] states = block.states;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int to = block.gradients.to;
    for (int i = block.gradients.from; i < to; i++) {
      long row = weights[i] + 4L * j;
      long at = states[i] + state;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride));
      float a = Math.fma(keep, getFloat(at), down * g);
      setFloat(at, a);
      setFloat(row, w + a);
    }
  }

  private static void nesterov(
      OptimizerStep step, Optimizer.Nesterov rule, StepBlock block, int j) {
    float l2 = step.l2;
    float down = -step.lr;
    float keep = rule.momentum();
    long state = 4L * (step.width + j);
    long[] weights = block.weights;
    long[] states = block.states;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int to = block.gradients.to;
    for (int i = block.gradients.from; i < to; i++) {
      long row = weights[i] + 4L * j;
      long at = states[i] + state;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride));
      float a = Math.fma(keep, getFloat(at), g);
      setFloat(at, a);
      setFloat(row, Math.fma(down, Math.fma(keep, a, g), w));
    }
  }

  private static void adagrad(OptimizerStep step, Optimizer.Adagrad rule, StepBlock block, int j) {
    float l2 = step.l2;
    float lr = step.lr;
    float eps = rule.eps();
    long state = 4L * (step.width + j);
    long[] weights = block.weights;
    long[] states = block.states;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int to = block.gradients.to;
    for (int i = block.gradients.from; i < to; i++) {
      long row = weights[i] + 4L * j;
      long at = states[i] + state;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride));
      float s = Math.fma(g, g, getFloat(at));
      setFloat(at, s);
      setFloat(row, w - lr * g / ((float) Math.sqrt(s) + eps));
    }
  }

  /** Adds the mean squared gradient of each row to its state, and finds its learning rate. */
  static void rowRates(OptimizerStep step, Optimizer.RowWiseAdagrad rule, StepBlock block) {
    float share = 1f / step.width;
    int from = block.gradients.from;
    for (int i = from; i < block.gradients.to; i++) {
      long state = block.states[i] + 4L * step.width;
      float s = Math.fma(total(block.squares, i - from), share, getFloat(state));
      setFloat(state, s);
      block.rates[i - from] = step.lr / ((float) Math.sqrt(s) + rule.eps());
    }
  }

  private static void rowWise(OptimizerStep step, StepBlock block, int j) {
    float l2 = step.l2;
    float[] rates = block.rates;
    long[] weights = block.weights;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int from = block.gradients.from;
    int to = block.gradients.to;
    for (int i = from; i < to; i++) {
      long row = weights[i] + 4L * j;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride));
      setFloat(row, Math.fma(-rates[i - from], g, w));
    }
  }

  private static void rmsProp(OptimizerStep step, Optimizer.RmsProp rule, StepBlock block, int j) {
    float l2 = step.l2;
    float lr = step.lr;
    float eps = rule.eps();
    float rho = rule.rho();
    float rest = 1 - rho;
    long state = 4L * (step.width + j);
    long[] weights = block.weights;
    long[] states = block.states;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int to = block.gradients.to;
    for (int i = block.gradients.from; i < to; i++) {
      long row = weights[i] + 4L * j;
      long at = states[i] + state;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride));
      float s = Math.fma(rho, getFloat(at), rest * g * g);
      setFloat(at, s);
      setFloat(row, w - lr * g / ((float) Math.sqrt(s) + eps));
    }
  }

  /**
   * Finds the decay of each row's moments in the steps since its last update, and makes this step
   * the last. Example: a row last updated in step 3 decays in step 6 by {@code beta1^2} and {@code
   * beta2^2}.
   *
   * @return whether there is any
   */
  static boolean momentDecays(OptimizerStep step, StepBlock block) {
    long last = 12L * step.width;
    int number = (int) Math.min(step.number, Integer.MAX_VALUE);
    int from = block.gradients.from;
    boolean any = false;
    for (int i = from; i < block.gradients.to; i++) {
      long state = block.states[i] + last;
      int skipped = Math.max(0, number - getInt(state) - 1);
      block.decays1[i - from] = step.decay1(skipped);
      block.decays2[i - from] = step.decay2(skipped);
      any |= skipped > 0;
      setInt(state, number);
    }
    return any;
  }

  static void decay(int width, StepBlock block, int j) {
    int from = block.gradients.from;
    for (int i = from; i < block.gradients.to; i++) {
      long m = block.states[i] + 4L * (width + j);
      long v = m + 4L * width;
      setFloat(m, block.decays1[i - from] * getFloat(m));
      setFloat(v, block.decays2[i - from] * getFloat(v));
    }
  }

  private static void adam(OptimizerStep step, Optimizer.Adam rule, StepBlock block, int j) {
    float l2 = step.l2;
    float lr = step.lr;
    float vScale = step.vScale;
    float eps = rule.eps();
    float beta1 = rule.beta1();
    float beta2 = rule.beta2();
    float rest1 = 1 - beta1;
    float rest2 = 1 - beta2;
    long first = 4L * (step.width + j);
    long second = first + 4L * step.width;
    long[] weights = block.weights;
    long[] states = block.states;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int to = block.gradients.to;
    for (int i = block.gradients.from; i < to; i++) {
      long row = weights[i] + 4L * j;
      long at = states[i];
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride));
      float m = Math.fma(beta1, getFloat(at + first), rest1 * g);
      float v = Math.fma(beta2, getFloat(at + second), rest2 * g * g);
      setFloat(at + first, m);
      setFloat(at + second, v);
      setFloat(row, w - lr * m / ((float) Math.sqrt(v * vScale) + eps));
    }
  }

  private static void ftrl(OptimizerStep step, Optimizer.Ftrl rule, StepBlock block, int j) {
    float l2 = step.l2;
    float perRate = 1 / step.lr;
    long linear = 4L * (step.width + j);
    long squares = linear + 4L * step.width;
    long[] weights = block.weights;
    long[] states = block.states;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int to = block.gradients.to;
    for (int i = block.gradients.from; i < to; i++) {
      long row = weights[i] + 4L * j;
      long at = states[i];
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride));
      float before = getFloat(at + squares);
      float n = Math.fma(g, g, before);
      float root = (float) Math.sqrt(n);
      float sigma = (root - (float) Math.sqrt(before)) * perRate;
      float z = Math.fma(-sigma, w, getFloat(at + linear) + g);
      setFloat(at + linear, z);
      setFloat(at + squares, n);
      float size = Math.max(Math.abs(z) - rule.l1(), 0);
      float pull = Math.fma(rule.beta() + root, perRate, rule.l2());
      float shrunk = pull > 0 ? size / pull : 0;
      setFloat(row, z > 0 ? -shrunk : shrunk);
    }
  }
}
