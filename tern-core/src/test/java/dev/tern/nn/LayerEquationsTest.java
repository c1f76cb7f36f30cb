package dev.tern.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Layers beside their equations in plain Java and double precision; their gradients, of the input
 * and of every parameter, beside differences of the equations.
 */
final class LayerEquationsTest {
  private static final int B = 5;
  private static final int W = 3;
  private static final int S = 4;
  private static final int D = 2;

  /** Values of the input, {@code x}, and of all variables, by name. */
  private interface Equation {
    double[] of(Map<String, double[]> values);
  }

  /**
   * @param layer makes it of the name {@code l}
   */
  private record Case(
      String name,
      boolean training,
      Shape input,
      Function<Parameters, BiFunction<Tensor, Pass, Tensor>> layer,
      Equation equation) {
    @Override
    public String toString() {
      return name + (training ? ", training" : ", scoring");
    }
  }

  static Stream<Case> cases() {
    Shape rows = Shape.of(B, W);
    Shape vectors = Shape.of(B, S, D);
    List<Case> all = new ArrayList<>();
    for (boolean training : new boolean[] {true, false}) {
      all.add(
          new Case(
              "batch norm",
              training,
              rows,
              p -> new BatchNorm(p, "l", W)::apply,
              v -> affine(standardized(v, v.get("x"), "l", 1e-5, training), v, "l")));
      all.add(
          new Case(
              "dice", training, rows, p -> new Dice(p, "l", W)::apply, v -> dice(v, training)));
      all.add(
          new Case(
              "mlp",
              training,
              rows,
              p -> new Mlp(p, "l", W, List.of(4), new Mlp.Style(Activation.PRELU, true, 0))::apply,
              v -> mlp(v, training)));
    }
    all.add(
        of(
            "layer norm",
            rows,
            p -> new LayerNorm(p, "l", W)::apply,
            LayerEquationsTest::layerNorm));
    all.add(
        of(
            "prelu",
            rows,
            p -> new Prelu(p, "l", W)::apply,
            v -> prelu(v.get("x"), v.get("l.slope"))));
    all.add(
        of(
            "cross of vectors",
            rows,
            p -> CrossNetwork.vectors(p, "l", W, 2)::apply,
            LayerEquationsTest::crossVectors));
    all.add(
        of(
            "cross of matrices",
            rows,
            p -> CrossNetwork.matrices(p, "l", W, 2)::apply,
            v -> cross(v, (l, c) -> product(c, v.get(l + ".weight"), W))));
    all.add(
        of(
            "cross of low rank",
            rows,
            p -> CrossNetwork.lowRank(p, "l", W, 2, 2)::apply,
            v -> cross(v, (l, c) -> product(product(c, v.get(l + ".v"), 2), v.get(l + ".u"), W))));
    all.add(
        of(
            "cross of experts",
            rows,
            p -> CrossNetwork.mixture(p, "l", W, 2, new CrossNetwork.Experts(3, 2))::apply,
            v -> cross(v, (l, c) -> experts(v, l, c, 2, 3))));
    all.add(of("inner products", vectors, _ -> Tensor::dotInteraction, v -> pairs(v.get("x"))));
    all.add(
        of(
            "field-weighted products",
            vectors,
            p -> new FieldWeightedProducts(p, "l", S)::apply,
            v -> product(pairs(v.get("x")), v.get("l.weight"), 1)));
    Shape withTargets = SequenceEquations.SHAPE;
    all.add(
        of(
            "target attention",
            withTargets,
            p -> {
              TargetAttention layer =
                  new TargetAttention(p, "l", 2, W, List.of(4, 2), Activation.PRELU);
              return x ->
                  layer.apply(
                      SequenceEquations.elements(x),
                      SequenceEquations.targets(x).slice(1, 0, 2),
                      Pass.scoring());
            },
            SequenceEquations::targetAttention));
    all.add(
        of(
            "sequence attention of a query",
            withTargets,
            p -> {
              SequenceAttention layer = new SequenceAttention(p, "l", W, W);
              return x -> layer.apply(SequenceEquations.whole(x), SequenceEquations.targets(x));
            },
            v -> SequenceEquations.attention(v, true)));
    all.add(
        of(
            "sequence attention",
            withTargets,
            p -> {
              SequenceAttention layer = new SequenceAttention(p, "l", W, W);
              return x -> layer.apply(SequenceEquations.elements(x), 4).values();
            },
            v -> SequenceEquations.attention(v, false)));
    all.add(
        of(
            "recurrent unit",
            withTargets,
            p -> {
              RecurrentUnit layer = new RecurrentUnit(p, "l", W, D);
              return x -> layer.apply(SequenceEquations.elements(x)).values();
            },
            v -> SequenceEquations.states(v, D)));
    return all.stream();
  }

  private static Case of(
      String name,
      Shape input,
      Function<Parameters, Function<Tensor, Tensor>> layer,
      Equation equation) {
    return new Case(
        name,
        true,
        input,
        p -> {
          Function<Tensor, Tensor> made = layer.apply(p);
          return (x, _) -> made.apply(x);
        },
        equation);
  }

  /** {@code [n, k]} by {@code [k, columns]}. */
  static double[] product(double[] a, double[] b, int columns) {
    int inner = b.length / columns;
    double[] result = new double[a.length / inner * columns];
    for (int i = 0; i < result.length; i++) {
      for (int k = 0; k < inner; k++) {
        result[i] += a[i / columns * inner + k] * b[k * columns + i % columns];
      }
    }
    return result;
  }

  private static double[] standardized(
      Map<String, double[]> v, double[] x, String name, double epsilon, boolean training) {
    int width = v.get(name + ".mean").length;
    double[] result = new double[x.length];
    for (int c = 0; c < width; c++) {
      double mean = v.get(name + ".mean")[c];
      double variance = v.get(name + ".variance")[c];
      if (training) {
        double sum = 0;
        double squares = 0;
        for (int i = c; i < x.length; i += width) {
          sum += x[i];
        }
        mean = sum * width / x.length;
        for (int i = c; i < x.length; i += width) {
          squares += (x[i] - mean) * (x[i] - mean);
        }
        variance = squares * width / x.length;
      }
      for (int i = c; i < x.length; i += width) {
        result[i] = (x[i] - mean) / Math.sqrt(variance + epsilon);
      }
    }
    return result;
  }

  private static double[] affine(double[] x, Map<String, double[]> v, String name) {
    double[] gamma = v.get(name + ".gamma");
    double[] beta = v.get(name + ".beta");
    double[] result = new double[x.length];
    Arrays.setAll(result, i -> x[i] * gamma[i % gamma.length] + beta[i % beta.length]);
    return result;
  }

  static double[] prelu(double[] x, double[] slope) {
    double[] result = new double[x.length];
    Arrays.setAll(result, i -> x[i] > 0 ? x[i] : slope[i % slope.length] * x[i]);
    return result;
  }

  private static double[] dice(Map<String, double[]> v, boolean training) {
    double[] s = v.get("x");
    double[] z = standardized(v, s, "l", 1e-8, training);
    double[] alpha = v.get("l.alpha");
    double[] result = new double[s.length];
    for (int i = 0; i < s.length; i++) {
      double p = 1 / (1 + Math.exp(-z[i]));
      result[i] = p * s[i] + (1 - p) * alpha[i % W] * s[i];
    }
    return result;
  }

  private static double[] mlp(Map<String, double[]> v, boolean training) {
    double[] sums = product(v.get("x"), v.get("l.0.weight"), 4);
    double[] normal = standardized(v, sums, "l.0.norm", 1e-5, training);
    return prelu(affine(normal, v, "l.0.norm"), v.get("l.0.activation.slope"));
  }

  private static double[] layerNorm(Map<String, double[]> v) {
    double[] x = v.get("x");
    double[] normal = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      double[] row = Arrays.copyOfRange(x, i / W * W, i / W * W + W);
      double mean = Arrays.stream(row).average().orElseThrow();
      double variance = Arrays.stream(row).map(e -> (e - mean) * (e - mean)).sum() / W;
      normal[i] = (x[i] - mean) / Math.sqrt(variance + 1e-5);
    }
    return affine(normal, v, "l");
  }

  private static double[] crossVectors(Map<String, double[]> v) {
    double[] x = v.get("x");
    double[] c = x;
    for (int l = 0; l < 2; l++) {
      double[] before = c;
      double[] product = product(c, v.get("l." + l + ".weight"), 1);
      double[] bias = v.get("l." + l + ".bias");
      double[] next = new double[x.length];
      Arrays.setAll(next, i -> x[i] * product[i / W] + bias[i % W] + before[i]);
      c = next;
    }
    return c;
  }

  private static double[] cross(
      Map<String, double[]> v, BiFunction<String, double[], double[]> linear) {
    double[] x = v.get("x");
    double[] c = x;
    for (int l = 0; l < 2; l++) {
      double[] before = c;
      double[] product = linear.apply("l." + l, c);
      double[] bias = v.get("l." + l + ".bias");
      double[] next = new double[x.length];
      Arrays.setAll(next, i -> x[i] * (product[i] + bias[i % W]) + before[i]);
      c = next;
    }
    return c;
  }

  private static double[] column(double[] matrix, int columns, int from, int count) {
    double[] result = new double[matrix.length / columns * count];
    Arrays.setAll(result, i -> matrix[i / count * columns + from + i % count]);
    return result;
  }

  /** Expert by expert, as the paper has it: the gate stands before all of the expert. */
  private static double[] experts(
      Map<String, double[]> v, String layer, double[] c, int rank, int experts) {
    double[] scores = product(c, v.get(layer + ".gate"), experts);
    double[] result = new double[c.length];
    for (int e = 0; e < experts; e++) {
      int expert = e;
      double[] narrow = product(c, column(v.get(layer + ".v"), experts * rank, e * rank, rank), 2);
      Arrays.setAll(narrow, i -> Math.tanh(narrow[i]));
      int square = rank * rank;
      double[] core = Arrays.copyOfRange(v.get(layer + ".core"), e * square, (e + 1) * square);
      double[] turned = product(narrow, core, rank);
      Arrays.setAll(turned, i -> Math.tanh(turned[i]));
      double[] u = Arrays.copyOfRange(v.get(layer + ".u"), e * rank * W, (e + 1) * rank * W);
      double[] wide = product(turned, u, W);
      for (int i = 0; i < result.length; i++) {
        int from = i / W * experts;
        double sum = 0;
        for (int k = 0; k < experts; k++) {
          sum += Math.exp(scores[from + k] - scores[from + expert]);
        }
        result[i] += wide[i] / sum;
      }
    }
    return result;
  }

  private static double[] pairs(double[] vectors) {
    List<Double> dots = new ArrayList<>();
    for (int b = 0; b < B; b++) {
      for (int i = 0; i < S; i++) {
        for (int j = 0; j < i; j++) {
          double dot = 0;
          for (int d = 0; d < D; d++) {
            dot += vectors[(b * S + i) * D + d] * vectors[(b * S + j) * D + d];
          }
          dots.add(dot);
        }
      }
    }
    return dots.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static float[] random(Random random, Shape shape) {
    float[] values = new float[shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  private static double[] doubles(float[] values) {
    double[] result = new double[values.length];
    Arrays.setAll(result, i -> values[i]);
    return result;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void outputsAndGradientsFollowTheEquation(Case layer) {
    Random random = new Random(21);
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 5);
      Variable x = Variable.zeros(device, "x", layer.input());
      x.set(random(random, x.shape()));
      var made = layer.layer().apply(parameters);
      Map<String, double[]> values = new TreeMap<>(Map.of("x", doubles(x.toArray())));
      List<Variable> learned = new ArrayList<>(List.of(x));
      learned.addAll(parameters.all());
      for (Variable parameter : parameters.all()) {
        parameter.set(random(random, parameter.shape()));
        values.put(parameter.name(), doubles(parameter.toArray()));
      }
      for (Variable statistic : parameters.statistics()) {
        float[] start = random(random, statistic.shape());
        for (int i = 0; i < start.length; i++) {
          start[i] = Math.abs(start[i]) + 0.5f;
        }
        statistic.set(start);
        values.put(statistic.name(), doubles(start));
      }
      Variable seed = Variable.of(device, "seed", Shape.of(1), DType.I64);
      Pass pass = layer.training() ? Pass.training(seed) : Pass.scoring();
      Tensor y = made.apply(x.tensor(), pass);
      float[] upstream = random(random, y.shape());
      Tensor loss = y.mul(Tensor.of(y.shape(), upstream)).sum();
      List<Tensor> outputs = new ArrayList<>(List.of(y));
      outputs.addAll(Tensor.gradients(loss, learned.stream().map(Variable::tensor).toList()));
      try (Computation computation = Computation.of(device, outputs, Map.of())) {
        computation.run();
        compare("output", got(computation, 0, y.shape()), layer.equation().of(values));
        for (int i = 0; i < learned.size(); i++) {
          double[] point = values.get(learned.get(i).name());
          float[] got = got(computation, 1 + i, learned.get(i).shape());
          compare(learned.get(i).name(), got, slopes(layer.equation(), values, point, upstream));
        }
      }
    }
  }

  private static float[] got(Computation computation, int output, Shape shape) {
    float[] got = new float[shape.elements()];
    computation.copyOutput(output, got, 0);
    return got;
  }

  private static double[] slopes(
      Equation equation, Map<String, double[]> values, double[] point, float[] upstream) {
    double[] slopes = new double[point.length];
    double step = 1e-5;
    for (int i = 0; i < point.length; i++) {
      double middle = point[i];
      point[i] = middle + step;
      double[] above = equation.of(values);
      point[i] = middle - step;
      double[] below = equation.of(values);
      point[i] = middle;
      for (int k = 0; k < upstream.length; k++) {
        slopes[i] += upstream[k] * (above[k] - below[k]) / (2 * step);
      }
    }
    return slopes;
  }

  private static void compare(String what, float[] got, double[] expected) {
    assertThat(got).as(what).hasSameSizeAs(expected);
    for (int i = 0; i < got.length; i++) {
      assertThat((double) got[i])
          .as("%s, element %d", what, i)
          .isCloseTo(expected[i], within(2e-4 * Math.max(1, Math.abs(expected[i]))));
    }
  }

  @Test
  void averagesMoveATenthOfTheWayToEachBatch() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 5);
      BatchNorm norm = new BatchNorm(parameters, "l", 2);
      Variable x = Variable.zeros(device, "x", Shape.of(4, 2));
      Pass pass = Pass.training(Variable.of(device, "seed", Shape.of(1), DType.I64));
      Tensor y = norm.apply(x.tensor(), pass);
      try (Computation step = Computation.of(device, List.of(y), pass.updates())) {
        x.set(1, -8, 2, -4, 3, 4, 6, 8);
        step.run();
        x.set(0, 1, 0, 1, 0, 1, 0, 1);
        step.run();
      }
      // Means 3 and 0 of the batches, then 0 and 1; variances over one row less, 14 / 3 and 160 /
      // 3, then 0 and 0.
      compare("mean", statistic(parameters, 0), new double[] {0.9 * 0.3, 0.1});
      compare(
          "variance",
          statistic(parameters, 1),
          new double[] {0.9 * (0.9 + 1.4 / 3), 0.9 * (0.9 + 16 / 3.0)});
    }
  }

  private static float[] statistic(Parameters parameters, int index) {
    return parameters.statistics().get(index).toArray();
  }

  @Test
  void deviationsFarBelowTheMeanAndSingleOutliersAreStandardized() {
    int rows = 1000;
    Shape shape = Shape.of(rows, 3);
    Random random = new Random(3);
    float[] x = new float[3 * rows];
    for (int i = 0; i < rows; i++) {
      x[3 * i] = 10_000 + random.nextInt(16) / 8f;
      x[3 * i + 1] = i == 0 ? 1000 : 0;
      x[3 * i + 2] = 7;
    }
    try (Device device = Device.cpu(1, 1L << 24)) {
      BatchNorm norm = new BatchNorm(new Parameters(device, 5), "l", 3);
      Pass pass = Pass.training(Variable.of(device, "seed", Shape.of(1), DType.I64));
      float[] got = norm.apply(Tensor.of(shape, x), pass).toArray();
      Map<String, double[]> values = Map.of("l.mean", new double[3], "l.variance", new double[3]);
      double[] expected = standardized(values, doubles(x), "l", 1e-5, true);
      for (int i = 0; i < got.length; i++) {
        assertThat((double) got[i])
            .as("element %d", i)
            .isCloseTo(expected[i], within(1e-3 * Math.max(1, Math.abs(expected[i]))));
      }
    }
  }

  @Test
  void aBatchOfOneRowLeavesTheVarianceAsItIs() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 5);
      Dice dice = new Dice(parameters, "l", 2);
      Pass pass = Pass.training(Variable.of(device, "seed", Shape.of(1), DType.I64));
      Tensor y = dice.apply(Tensor.of(Shape.of(1, 2), 10, -20), pass);
      try (Computation step = Computation.of(device, List.of(y), pass.updates())) {
        step.run();
      }
      compare("mean", statistic(parameters, 0), new double[] {1, -2});
      compare("variance", statistic(parameters, 1), new double[] {1, 1});
    }
  }

  @Test
  void aLayerWithStatisticsAppliedTwiceInOnePassIsRefused() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      BatchNorm norm = new BatchNorm(new Parameters(device, 5), "l", 1);
      Pass pass = Pass.training(Variable.of(device, "seed", Shape.of(1), DType.I64));
      Tensor x = Tensor.of(Shape.of(2, 1), 1, 2);
      norm.apply(x, pass);
      assertThatThrownBy(() -> norm.apply(x, pass))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("l.mean: got a second update in one pass");
    }
  }

  @Test
  void anUpdateWhileScoringIsRefused() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Variable statistic = new Parameters(device, 5).statistic("s", Shape.of(1), 0);
      assertThatThrownBy(() -> Pass.scoring().update(statistic, Tensor.scalar(1)))
          .hasMessageStartingWith("s: got an update while scoring");
    }
  }

  @Test
  void crossLayersOfRankOrExpertsZeroAreRefused() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 5);
      assertThatThrownBy(() -> CrossNetwork.lowRank(parameters, "c", 3, 1, 0))
          .hasMessage("cross network: got rank 0, expected 1 or more");
      assertThatThrownBy(
              () -> CrossNetwork.mixture(parameters, "c", 3, 1, new CrossNetwork.Experts(0, 2)))
          .hasMessage("cross network: got experts 0, expected 1 or more");
    }
  }
}
