package dev.tern.internal.table.rows;

import static dev.tern.internal.table.rows.VectorRows.LANES;
import static dev.tern.internal.table.rows.VectorRows.all;
import static dev.tern.internal.table.rows.VectorRows.load;
import static dev.tern.internal.table.rows.VectorRows.store;

import dev.tern.internal.kernel.HalfVectors;
import dev.tern.internal.table.index.Hashing;
import dev.tern.optim.Optimizer;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loops of {@link UpdateLoops} on {@link VectorRows#LANES} columns from column {@code j} on:
 * element for element the operations of {@link ScalarSteps}, which explains them. Loaded only where
 * the module {@code jdk.incubator.vector} is present.
 */
final class VectorSteps {
  private static final VectorSpecies<Float> FLOATS = HalfVectors.FLOATS;
  private static final VectorSpecies<Integer> INTS = FLOATS.withLanes(int.class);
  private static final int[] COLUMNS = columns();

  private VectorSteps() {}

  /** What {@link Hashing#noise} adds for each column of a vector. */
  private static int[] columns() {
    int[] columns = new int[LANES];
    for (int j = 0; j < columns.length; j++) {
      columns[j] = j * Hashing.COLUMN;
    }
    return columns;
  }

  /** Two vectors of columns. */
  static void sumGradients2(RowLookup lookup, MatrixBlock gradients, MatrixBlock sums, int j) {
    int[] starts = lookup.starts;
    int[] bags = lookup.bags;
    float[] scales = lookup.scales;
    long grad = gradients.base + 4L * j;
    long stride = gradients.stride;
    for (int u = sums.from; u < sums.to; u++) {
      int end = starts[u + 1];
      FloatVector first = all(0);
      FloatVector second = all(0);
      for (int i = starts[u]; i < end; i++) {
        long at = grad + bags[i] * stride;
        FloatVector scale = all(scales[i]);
        first = scale.fma(load(at), first);
        second = scale.fma(load(at + 4L * LANES), second);
      }
      long target = sums.base + u * sums.stride + 4L * j;
      store(first, target);
      store(second, target + 4L * LANES);
    }
  }

  static void sumGradients(RowLookup lookup, MatrixBlock gradients, MatrixBlock sums, int j) {
    int[] starts = lookup.starts;
    int[] bags = lookup.bags;
    float[] scales = lookup.scales;
    long grad = gradients.base + 4L * j;
    long stride = gradients.stride;
    for (int u = sums.from; u < sums.to; u++) {
      int end = starts[u + 1];
      FloatVector sum = all(0);
      for (int i = starts[u]; i < end; i++) {
        sum = all(scales[i]).fma(load(grad + bags[i] * stride), sum);
      }
      store(sum, sums.base + u * sums.stride + 4L * j);
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
      FloatVector g = all(l2).fma(load(weights[i] + 4L * j), load(grad + i * stride));
      addSquare(g, squares, StepBlock.SUMS * (i - from) + (j & 7));
    }
  }

  static void addSquares(StepBlock block, int j) {
    float[] squares = block.squares;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int from = block.gradients.from;
    int to = block.gradients.to;
    for (int i = from; i < to; i++) {
      addSquare(load(grad + i * stride), squares, StepBlock.SUMS * (i - from) + (j & 7));
    }
  }

  private static void addSquare(FloatVector g, float[] squares, int at) {
    g.fma(g, HalfVectors.exact(FloatVector.fromArray(FLOATS, squares, at))).intoArray(squares, at);
  }

  static void scale(StepBlock block, int j) {
    float[] factors = block.rates;
    long grad = block.gradients.base + 4L * j;
    long stride = block.gradients.stride;
    int from = block.gradients.from;
    int to = block.gradients.to;
    for (int i = from; i < to; i++) {
      long at = grad + i * stride;
      store(load(at).mul(factors[i - from]), at);
    }
  }

  static void clamp(StepBlock block, float low, float high, int j) {
    long[] weights = block.weights;
    int to = block.gradients.to;
    for (int i = block.gradients.from; i < to; i++) {
      long row = weights[i] + 4L * j;
      store(load(row).max(low).min(high), row);
    }
  }

  static void storeF16(long[] rows, MatrixBlock weights, int j) {
    long base = weights.base + 4L * j;
    long stride = weights.stride;
    int to = weights.to;
    for (int i = weights.from; i < to; i++) {
      HalfVectors.storeFiniteF16(load(base + i * stride), rows[i] + 2L * j);
    }
  }

  static void storeBf16(long[] rows, int[] keys, MatrixBlock weights, int j) {
    IntVector columns =
        HalfVectors.exact(IntVector.fromArray(INTS, COLUMNS, 0)).add(j * Hashing.COLUMN);
    long base = weights.base + 4L * j;
    long stride = weights.stride;
    int to = weights.to;
    for (int i = weights.from; i < to; i++) {
      IntVector noise = noise(columns.add(keys[i]));
      HalfVectors.storeStochasticBf16(load(base + i * stride), noise, rows[i] + 2L * j);
    }
  }

  /** {@link Hashing#noise} of keys to which the columns were added. */
  private static IntVector noise(IntVector x) {
    IntVector y = x.lanewise(VectorOperators.XOR, x.lanewise(VectorOperators.LSHR, 16));
    y = y.mul(Hashing.NOISE_1);
    y = y.lanewise(VectorOperators.XOR, y.lanewise(VectorOperators.LSHR, 15));
    return y.mul(Hashing.NOISE_2).lanewise(VectorOperators.LSHR, 16);
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
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride));
      store(all(down).fma(g, w), row);
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
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride));
      FloatVector a = all(keep).fma(load(at), g.mul(down));
      store(a, at);
      store(w.add(a), row);
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
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride));
      FloatVector a = all(keep).fma(load(at), g);
      store(a, at);
      store(all(down).fma(all(keep).fma(a, g), w), row);
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
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride));
      FloatVector s = g.fma(g, load(at));
      store(s, at);
      store(w.sub(g.mul(lr).div(s.sqrt().add(eps))), row);
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
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride));
      store(all(-rates[i - from]).fma(g, w), row);
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
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride));
      FloatVector s = all(rho).fma(load(at), g.mul(rest).mul(g));
      store(s, at);
      store(w.sub(g.mul(lr).div(s.sqrt().add(eps))), row);
    }
  }

  static void decay(int width, StepBlock block, int j) {
    float[] first = block.decays1;
    float[] second = block.decays2;
    long[] states = block.states;
    int from = block.gradients.from;
    int to = block.gradients.to;
    for (int i = from; i < to; i++) {
      long m = states[i] + 4L * (width + j);
      long v = m + 4L * width;
      store(load(m).mul(first[i - from]), m);
      store(load(v).mul(second[i - from]), v);
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
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride));
      FloatVector m = all(beta1).fma(load(at + first), g.mul(rest1));
      FloatVector v = all(beta2).fma(load(at + second), g.mul(rest2).mul(g));
      store(m, at + first);
      store(v, at + second);
      store(w.sub(m.mul(lr).div(v.mul(vScale).sqrt().add(eps))), row);
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
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride));
      FloatVector before = load(at + squares);
      FloatVector n = g.fma(g, before);
      FloatVector root = n.sqrt();
      FloatVector sigma = root.sub(before.sqrt()).mul(perRate);
      FloatVector z = sigma.neg().fma(w, load(at + linear).add(g));
      store(z, at + linear);
      store(n, at + squares);
      FloatVector size = z.abs().sub(rule.l1()).max(0);
      FloatVector pull = root.add(rule.beta()).fma(all(perRate), all(rule.l2()));
      VectorMask<Float> pulled = pull.compare(VectorOperators.GT, 0);
      FloatVector shrunk = all(0).blend(size.div(pull), pulled);
      store(shrunk.blend(shrunk.neg(), z.compare(VectorOperators.GT, 0)), row);
    }
  }
}
