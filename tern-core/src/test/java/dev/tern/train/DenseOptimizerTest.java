package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import dev.tern.optim.Optimizer;
import dev.tern.optim.Optimizer.Adam.Untouched;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every rule on dense parameters beside its equation in double precision. */
final class DenseOptimizerTest {
  private static final int ROWS = 3;
  private static final int COLUMNS = 5;
  private static final int STEPS = 5;
  private static final float L2 = 0.01f;

  static List<Optimizer> rules() {
    return List.of(
        new Optimizer.Sgd(0.1f),
        new Optimizer.Momentum(0.1f, 0.8f),
        new Optimizer.Nesterov(0.1f, 0.8f),
        new Optimizer.Adagrad(0.1f, 0.5f, 1e-3f),
        new Optimizer.RowWiseAdagrad(0.1f, 0.5f, 1e-3f),
        new Optimizer.RmsProp(0.1f, 0.9f, 1e-3f),
        new Optimizer.Adam(0.1f, 0.9f, 0.99f, 1e-3f, Untouched.UPDATED),
        new Optimizer.Adam(0.1f, 0.9f, 0.99f, 1e-3f, Untouched.KEPT),
        new Optimizer.Adam(0.1f, 0.9f, 0.99f, 1e-3f, Untouched.DECAYED),
        new Optimizer.Ftrl(0.2f, 0.5f, 0.3f, 0.1f));
  }

  /** One rule on one matrix, in doubles; {@code a} and {@code b} are its state. */
  private static final class Plain {
    final double[] w;
    final double[] a = new double[ROWS * COLUMNS];
    final double[] b = new double[ROWS * COLUMNS];

    Plain(float[] weights, Optimizer rule) {
      w = new double[weights.length];
      Arrays.setAll(w, i -> weights[i]);
      if (rule instanceof Optimizer.Adagrad adagrad) {
        Arrays.fill(a, adagrad.initial());
      } else if (rule instanceof Optimizer.RowWiseAdagrad adagrad) {
        Arrays.fill(a, adagrad.initial());
      }
    }

    void step(Optimizer rule, double[] gradient, int t, double lr, double decay) {
      double[] g = new double[w.length];
      Arrays.setAll(g, i -> gradient[i] + L2 * w[i]);
      for (int i = 0; i < w.length; i++) {
        double mean = 0;
        for (int j = i / COLUMNS * COLUMNS; j < i / COLUMNS * COLUMNS + COLUMNS; j++) {
          mean += g[j] * g[j] / COLUMNS;
        }
        double taken = lr * decay * w[i];
        update(rule, i, g[i], mean, t, lr);
        w[i] -= taken;
      }
    }

    private void update(Optimizer rule, int i, double g, double mean, int t, double lr) {
      switch (rule) {
        case Optimizer.Sgd _ -> w[i] -= lr * g;
        case Optimizer.Momentum o -> {
          a[i] = o.momentum() * a[i] - lr * g;
          w[i] += a[i];
        }
        case Optimizer.Nesterov o -> {
          a[i] = o.momentum() * a[i] + g;
          w[i] -= lr * (g + o.momentum() * a[i]);
        }
        case Optimizer.Adagrad o -> {
          a[i] += g * g;
          w[i] -= lr * g / (Math.sqrt(a[i]) + o.eps());
        }
        case Optimizer.RowWiseAdagrad o -> {
          a[i] += mean;
          w[i] -= lr / (Math.sqrt(a[i]) + o.eps()) * g;
        }
        case Optimizer.RmsProp o -> {
          a[i] = o.rho() * a[i] + (1 - o.rho()) * g * g;
          w[i] -= lr * g / (Math.sqrt(a[i]) + o.eps());
        }
        case Optimizer.Adam o -> {
          a[i] = o.beta1() * a[i] + (1 - o.beta1()) * g;
          b[i] = o.beta2() * b[i] + (1 - o.beta2()) * g * g;
          double m = a[i] / (1 - Math.pow(o.beta1(), t));
          double v = b[i] / (1 - Math.pow(o.beta2(), t));
          w[i] -= lr * m / (Math.sqrt(v) + o.eps());
        }
        case Optimizer.Ftrl o -> {
          double n = b[i] + g * g;
          a[i] += g - (Math.sqrt(n) - Math.sqrt(b[i])) / lr * w[i];
          b[i] = n;
          w[i] =
              Math.abs(a[i]) <= o.l1()
                  ? 0
                  : (Math.signum(a[i]) * o.l1() - a[i]) / ((o.beta() + Math.sqrt(n)) / lr + o.l2());
        }
      }
    }
  }

  private static float[] random(Random random) {
    float[] values = new float[ROWS * COLUMNS];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  /** Steps of a matrix; another, with twice the gradient, counts in the norm. */
  private static void followsItsEquation(Optimizer rule, float decay, float clip) {
    Random random = new Random(7);
    TrainOptions options = TrainOptions.of(rule).l2(L2).weightDecay(decay).clipNorm(clip);
    try (Device device = Device.cpu(1, 1L << 24)) {
      Variable weight = Variable.zeros(device, "w", Shape.of(ROWS, COLUMNS));
      Variable other = Variable.zeros(device, "other", Shape.of(ROWS, COLUMNS));
      Variable gradient = Variable.zeros(device, "g", Shape.of(ROWS, COLUMNS));
      float[] start = random(random);
      weight.set(start);
      Plain plain = new Plain(start, rule);
      DenseOptimizer optimizer = new DenseOptimizer(device, options, List.of(weight, other));
      Tensor g = gradient.tensor();
      try (Computation step =
          Computation.of(device, List.of(), optimizer.updates(List.of(g, g.mul(2))))) {
        for (int t = 1; t <= STEPS; t++) {
          float lr = 0.1f * t;
          float[] values = random(random);
          gradient.set(values);
          optimizer.prepare(t, lr);
          step.run();
          plain.step(rule, clipped(values, clip), t, lr, decay);
          float[] got = weight.toArray();
          for (int i = 0; i < got.length; i++) {
            assertThat((double) got[i])
                .as("%s, step %d, weight %d", rule, t, i)
                .isCloseTo(plain.w[i], within(1e-4 * Math.max(1, Math.abs(plain.w[i]))));
          }
        }
      }
    }
  }

  /** By the norm of this gradient and of its double. */
  private static double[] clipped(float[] gradient, float clip) {
    double squares = 0;
    for (float value : gradient) {
      squares += 5.0 * value * value;
    }
    double factor = clip == 0 ? 1 : Math.min(1, clip / Math.sqrt(squares));
    double[] result = new double[gradient.length];
    Arrays.setAll(result, i -> factor * gradient[i]);
    return result;
  }

  @ParameterizedTest
  @MethodSource("rules")
  void fiveStepsOfEveryRuleFollowItsEquation(Optimizer rule) {
    followsItsEquation(rule, 0, 0);
  }

  @ParameterizedTest
  @MethodSource("rules")
  void stepsOfEveryRuleFollowItsEquationWithAClippedGradient(Optimizer rule) {
    // The norm of fifteen draws and their doubles is about 8.7: clipped in all steps, some and
    // none.
    followsItsEquation(rule, 0, 1);
    followsItsEquation(rule, 0, 8);
    followsItsEquation(rule, 0, 100);
  }

  @ParameterizedTest
  @MethodSource("rules")
  void stepsOfEveryRuleFollowItsEquationWithWeightDecay(Optimizer rule) {
    if (rule instanceof Optimizer.Ftrl) {
      TrainOptions options = TrainOptions.of(rule).weightDecay(0.1f);
      assertThatThrownBy(options::check).hasMessageContaining("got FTRL with weightDecay 0.1");
    } else {
      followsItsEquation(rule, 0.3f, 8);
    }
  }

  @Test
  void rowWiseAdagradTakesTheLastAxisAsARowWhateverTheRank() {
    Optimizer rule = new Optimizer.RowWiseAdagrad(0.1f, 0, 1e-3f);
    try (Device device = Device.cpu(1, 1L << 24)) {
      Variable scalar = Variable.zeros(device, "scalar", Shape.SCALAR);
      Variable vector = Variable.zeros(device, "vector", Shape.of(2));
      DenseOptimizer optimizer =
          new DenseOptimizer(device, TrainOptions.of(rule), List.of(scalar, vector));
      assertThat(optimizer.state().get(0).shape()).isEqualTo(Shape.SCALAR);
      assertThat(optimizer.state().get(1).shape()).isEqualTo(Shape.of(1));
      Variable three = Variable.zeros(device, "three", Shape.SCALAR);
      Variable pair = Variable.zeros(device, "pair", Shape.of(2));
      three.set(3);
      pair.set(1, 7);
      optimizer.prepare(1, 1);
      try (Computation step =
          Computation.of(
              device, List.of(), optimizer.updates(List.of(three.tensor(), pair.tensor())))) {
        step.run();
      }
      assertThat(scalar.toArray()[0]).isCloseTo(-3 / 3.001f, within(1e-5f));
      assertThat(vector.toArray()[1]).isCloseTo(-7 / 5.001f, within(1e-5f));
    }
  }
}
