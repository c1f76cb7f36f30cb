package dev.tern.internal.table.rows;

import static dev.tern.internal.table.rows.VectorRows.LANES;
import static dev.tern.internal.table.rows.VectorRows.all;
import static dev.tern.internal.table.rows.VectorRows.load;
import static dev.tern.internal.table.rows.VectorRows.store;

import dev.tern.internal.kernel.HalfVectors;
import dev.tern.internal.table.index.Hashing;
import dev.tern.optim.Optimizer;
import java.util.stream.IntStream;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loops of {@link UpdateLoops} on {@link VectorRows#LANES} columns from column {@code j} on,
 * with the operations of {@link ScalarSteps} for each element. Loaded only if the module {@code
 * jdk.incubator.vector} is present.
 */
final class VectorSteps {
  private static final VectorSpecies<Float> FLOATS = HalfVectors.FLOATS;
  private static final VectorSpecies<Integer> INTS = FLOATS.withLanes(int.class);

  /** What {@link Hashing#noise} adds for each column of a vector. */
  private static final int[] COLUMNS =
      IntStream.range(0, LANES).map(j -> j * Hashing.COLUMN).toArray();

  private VectorSteps() {}

  /** Two vectors of columns. */
  static void sumGradients2(
      RowLookup lookup, int[] bags, MatrixBlock gradients, MatrixBlock sums, int j) {
    int[] starts = lookup.starts;
    float[] scales = lookup.scales;
    for (int u = sums.from; u < sums.to; u++) {
      int end = starts[u + 1];
      FloatVector first = all(0);
      FloatVector second = all(0);
      for (int i = starts[u]; i < end; i++) {
        long at = gradients.at(bags[i], j);
        FloatVector scale = all(scales[i]);
        first = scale.fma(load(at), first);
        second = scale.fma(load(at + 4L * LANES), second);
      }
      long target = sums.at(u, j);
      store(first, target);
      store(second, target + 4L * LANES);
    }
  }

  static void sumGradients(
      RowLookup lookup, int[] bags, MatrixBlock gradients, MatrixBlock sums, int j) {
    int[] starts = lookup.starts;
    float[] scales = lookup.scales;
    for (int u = sums.from; u < sums.to; u++) {
      int end = starts[u + 1];
      FloatVector sum = all(0);
      for (int i = starts[u]; i < end; i++) {
        sum = all(scales[i]).fma(load(gradients.at(bags[i], j)), sum);
      }
      store(sum, sums.at(u, j));
    }
  }

  static void addRows(MatrixBlock rows, int[] targets, int[] sources, int count, int j) {
    for (int i = 0; i < count; i++) {
      long target = rows.at(targets[i], j);
      store(load(target).add(load(rows.at(sources[i], j))), target);
    }
  }

  static void addSquares(OptimizerStep step, StepBlock block, int j) {
    float[] squares = block.squares;
    int from = block.from();
    for (int i = from; i < block.to(); i++) {
      FloatVector g = all(step.l2).fma(load(block.weight(i, j)), load(block.gradient(i, j)));
      addSquare(g, squares, StepBlock.SUMS * (i - from) + (j & 7));
    }
  }

  static void addSquares(StepBlock block, int j) {
    float[] squares = block.squares;
    int from = block.from();
    for (int i = from; i < block.to(); i++) {
      addSquare(load(block.gradient(i, j)), squares, StepBlock.SUMS * (i - from) + (j & 7));
    }
  }

  private static void addSquare(FloatVector g, float[] squares, int at) {
    g.fma(g, HalfVectors.exact(FloatVector.fromArray(FLOATS, squares, at))).intoArray(squares, at);
  }

  static void scale(StepBlock block, int j) {
    int from = block.from();
    for (int i = from; i < block.to(); i++) {
      long at = block.gradient(i, j);
      store(load(at).mul(block.rates[i - from]), at);
    }
  }

  static void clamp(StepBlock block, float low, float high, int j) {
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      store(load(row).max(low).min(high), row);
    }
  }

  static void storeF16(long[] rows, MatrixBlock weights, int j) {
    for (int i = weights.from; i < weights.to; i++) {
      HalfVectors.storeFiniteF16(load(weights.at(i, j)), rows[i] + 2L * j);
    }
  }

  static void storeBf16(long[] rows, int[] keys, MatrixBlock weights, int j) {
    IntVector columns =
        HalfVectors.exact(IntVector.fromArray(INTS, COLUMNS, 0)).add(j * Hashing.COLUMN);
    for (int i = weights.from; i < weights.to; i++) {
      IntVector noise = noise(columns.add(keys[i]));
      HalfVectors.storeStochasticBf16(load(weights.at(i, j)), noise, rows[i] + 2L * j);
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
    float down = -step.lr;
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      FloatVector w = load(row);
      FloatVector g = all(step.l2).fma(w, load(block.gradient(i, j)));
      store(all(down).fma(g, w), row);
    }
  }

  private static void momentum(
      OptimizerStep step, Optimizer.Momentum rule, StepBlock block, int j) {
    float down = -step.lr;
    float keep = rule.momentum();
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      long state = block.state(i, j);
      FloatVector w = load(row);
      FloatVector g = all(step.l2).fma(w, load(block.gradient(i, j)));
      FloatVector a = all(keep).fma(load(state), g.mul(down));
      store(a, state);
      store(w.add(a), row);
    }
  }

  private static void nesterov(
      OptimizerStep step, Optimizer.Nesterov rule, StepBlock block, int j) {
    float down = -step.lr;
    float keep = rule.momentum();
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      long state = block.state(i, j);
      FloatVector w = load(row);
      FloatVector g = all(step.l2).fma(w, load(block.gradient(i, j)));
      FloatVector a = all(keep).fma(load(state), g);
      store(a, state);
      store(all(down).fma(all(keep).fma(a, g), w), row);
    }
  }

  private static void adagrad(OptimizerStep step, Optimizer.Adagrad rule, StepBlock block, int j) {
    float lr = step.lr;
    float eps = rule.eps();
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      long state = block.state(i, j);
      FloatVector w = load(row);
      FloatVector g = all(step.l2).fma(w, load(block.gradient(i, j)));
      FloatVector s = g.fma(g, load(state));
      store(s, state);
      store(w.sub(g.mul(lr).div(s.sqrt().add(eps))), row);
    }
  }

  private static void rowWise(OptimizerStep step, StepBlock block, int j) {
    int from = block.from();
    for (int i = from; i < block.to(); i++) {
      long row = block.weight(i, j);
      FloatVector w = load(row);
      FloatVector g = all(step.l2).fma(w, load(block.gradient(i, j)));
      store(all(-block.rates[i - from]).fma(g, w), row);
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
      FloatVector w = load(row);
      FloatVector g = all(step.l2).fma(w, load(block.gradient(i, j)));
      FloatVector s = all(rho).fma(load(state), g.mul(rest).mul(g));
      store(s, state);
      store(w.sub(g.mul(lr).div(s.sqrt().add(eps))), row);
    }
  }

  static void decay(StepBlock block, int j) {
    int from = block.from();
    for (int i = from; i < block.to(); i++) {
      long m = block.state(i, j);
      long v = m + 4L * block.width;
      store(load(m).mul(block.decays1[i - from]), m);
      store(load(v).mul(block.decays2[i - from]), v);
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
      FloatVector w = load(row);
      FloatVector g = all(step.l2).fma(w, load(block.gradient(i, j)));
      FloatVector m = all(beta1).fma(load(first), g.mul(rest1));
      FloatVector v = all(beta2).fma(load(second), g.mul(rest2).mul(g));
      store(m, first);
      store(v, second);
      store(w.sub(m.mul(lr).div(v.mul(vScale).sqrt().add(eps))), row);
    }
  }

  private static void ftrl(OptimizerStep step, Optimizer.Ftrl rule, StepBlock block, int j) {
    float perRate = 1 / step.lr;
    for (int i = block.from(); i < block.to(); i++) {
      long row = block.weight(i, j);
      long linear = block.state(i, j);
      long squares = linear + 4L * step.width;
      FloatVector w = load(row);
      FloatVector g = all(step.l2).fma(w, load(block.gradient(i, j)));
      FloatVector before = load(squares);
      FloatVector n = g.fma(g, before);
      FloatVector root = n.sqrt();
      FloatVector sigma = root.sub(before.sqrt()).mul(perRate);
      FloatVector z = sigma.neg().fma(w, load(linear).add(g));
      store(z, linear);
      store(n, squares);
      FloatVector size = z.abs().sub(rule.l1()).max(0);
      FloatVector pull = root.add(rule.beta()).fma(all(perRate), all(rule.l2()));
      VectorMask<Float> pulled = pull.compare(VectorOperators.GT, 0);
      FloatVector shrunk = all(0).blend(size.div(pull), pulled);
      store(shrunk.blend(shrunk.neg(), z.compare(VectorOperators.GT, 0)), row);
    }
  }
}
