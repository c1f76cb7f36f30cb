package dev.tern.model.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.model.papers.SlotWidths;
import dev.tern.nn.Features;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each layer of a graph beside its equation for one row, and gradients beside differences. */
final class GraphModelTest {
  private static final int B = 3;
  private static final int F = 12;

  /** The outputs of a row of numbers, with parameters by name. */
  interface Equation {
    double[] of(double[] x, Map<String, double[]> p);
  }

  /**
   * A layer.
   *
   * @param layers JSON of layers that read {@code x}, {@code F} numbers, and end with {@code out}
   * @param smooth whether differences show its gradient
   */
  record Case(String layers, boolean smooth, Equation equation) {
    @Override
    public String toString() {
      return layers;
    }
  }

  private static String op(String name, String op, String in, String numbers) {
    return "{\"name\": \"%s\", \"op\": \"%s\", \"in\": [%s]%s}"
        .formatted(name, op, quoted(in), numbers.isEmpty() ? "" : ", " + numbers);
  }

  private static String quoted(String names) {
    return "\"" + names.replace(" ", "\", \"") + "\"";
  }

  private static Case one(String op, String numbers, Equation equation) {
    return new Case(op("out", op, "x", numbers), true, equation);
  }

  /** {@code a} and {@code b}, the halves of {@code x}, then a layer. */
  private static Case two(String op, String numbers, Equation equation) {
    return new Case(halves() + ", " + op("out", op, "a b", numbers), true, equation);
  }

  private static String halves() {
    return "{\"name\": \"cut\", \"op\": \"slice\", \"in\": [\"x\"], \"out\": [\"a\", \"b\"],"
        + " \"from\": [0, 6], \"to\": [6, 12]}";
  }

  private static double[] map(double[] x, DoubleUnaryOperator each) {
    return Arrays.stream(x).map(each).toArray();
  }

  private static double[] made(int count, IntToDoubleFunction each) {
    return IntStream.range(0, count).mapToDouble(each).toArray();
  }

  private static double[] linear(double[] x, double[] w, double[] b) {
    return made(
        b.length,
        o ->
            b[o] + IntStream.range(0, x.length).mapToDouble(i -> x[i] * w[i * b.length + o]).sum());
  }

  static Stream<Case> cases() {
    List<Case> all = new ArrayList<>();
    all.add(
        one(
            "linear",
            "\"outputs\": 4",
            (x, p) -> linear(x, p.get("out.weight"), p.get("out.bias"))));
    all.add(
        one(
            "mlp",
            "\"outputs\": [5, 2], \"relu\": [true, false], \"bias\": [false, true]",
            (x, p) ->
                linear(
                    map(linear(x, p.get("out.0.weight"), new double[5]), v -> Math.max(v, 0)),
                    p.get("out.1.weight"),
                    p.get("out.1.bias"))));
    all.add(
        one(
            "cross",
            "\"layers\": 1, \"rank\": 0",
            (x, p) -> {
              double dot = linear(x, p.get("out.0.weight"), new double[1])[0];
              return made(F, i -> x[i] * dot + p.get("out.0.bias")[i] + x[i]);
            }));
    all.add(
        one(
            "cross",
            "\"layers\": 1, \"rank\": 2",
            (x, p) -> {
              double[] inner = linear(x, p.get("out.0.v"), new double[2]);
              double[] outer = linear(inner, p.get("out.0.u"), p.get("out.0.bias"));
              return made(F, i -> x[i] * outer[i] + x[i]);
            }));
    all.add(
        one(
            "layer_norm",
            "\"epsilon\": 0.01",
            (x, p) -> {
              double mean = Arrays.stream(x).sum() / F;
              double variance = Arrays.stream(x).map(v -> (v - mean) * (v - mean)).sum() / F;
              return made(
                  F,
                  i ->
                      p.get("out.gamma")[i] * (x[i] - mean) / Math.sqrt(variance + 0.01)
                          + p.get("out.beta")[i]);
            }));
    all.add(
        one(
            "batch_norm",
            "\"share\": 0.3, \"epsilon\": 0.01",
            (x, p) ->
                made(
                    F,
                    i ->
                        p.get("out.gamma")[i]
                                * (x[i] - p.get("out.mean")[i])
                                / Math.sqrt(p.get("out.variance")[i] + 0.01)
                            + p.get("out.beta")[i])));
    all.add(
        one(
            "dice",
            "\"alpha\": 0.2, \"epsilon\": 0.01, \"share\": 0.1",
            (x, p) ->
                made(
                    F,
                    i -> {
                      double z =
                          (x[i] - p.get("out.mean")[i])
                              / Math.sqrt(p.get("out.variance")[i] + 0.01);
                      double share = 1 / (1 + Math.exp(-z));
                      return share * x[i] + (1 - share) * 0.2 * x[i];
                    })));
    all.add(
        one(
            "slot_weights",
            "\"slots\": 12, \"width\": 2",
            (x, p) -> made(2 * F, i -> x[i / 2] * p.get("out.weight")[i])));
    all.add(one("dropout", "\"rate\": 0.5", (x, _) -> x));
    all.add(one("copy", "", (x, _) -> x));
    all.add(one("relu", "", (x, _) -> map(x, v -> Math.max(v, 0))));
    all.add(one("elu", "\"alpha\": 0.7", (x, _) -> map(x, v -> v > 0 ? v : 0.7 * Math.expm1(v))));
    all.add(one("sigmoid", "", (x, _) -> map(x, v -> 1 / (1 + Math.exp(-v)))));
    all.add(two("add", "", (x, _) -> made(6, i -> x[i] + x[6 + i])));
    all.add(two("subtract", "", (x, _) -> made(6, i -> x[i] - x[6 + i])));
    all.add(two("multiply", "", (x, _) -> made(6, i -> x[i] * x[6 + i])));
    all.add(two("concat", "\"axis\": 1", (x, _) -> x));
    all.add(
        new Case(
            op("r", "reshape", "x", "\"steps\": 4, \"width\": 3")
                + ", "
                + op("out", "pick", "r", "\"slots\": [3, 0]"),
            true,
            (x, _) -> made(6, i -> i < 3 ? x[9 + i] : x[i - 3])));
    for (String reduction : List.of("sum", "mean")) {
      double share = reduction.equals("sum") ? 1 : 0.25;
      all.add(
          new Case(
              op("r", "reshape", "x", "\"steps\": 4, \"width\": 3")
                  + ", "
                  + op("s", reduction, "r", "\"axis\": 1")
                  + ", "
                  + op("out", "reshape", "s", "\"steps\": 0, \"width\": 3"),
              true,
              (x, _) -> made(3, i -> share * (x[i] + x[3 + i] + x[6 + i] + x[9 + i]))));
    }
    all.add(one("repeat", "\"rows\": false, \"factor\": 2", (x, _) -> made(2 * F, i -> x[i / 2])));
    all.add(one("repeat", "\"rows\": true, \"factor\": 2", (x, _) -> made(2 * F, i -> x[i % F])));
    all.add(one("softmax", "\"factor\": 3", (x, _) -> softmax(map(x, v -> 3 * v), 0)));
    all.add(
        new Case(
            halves()
                + ", "
                + op("m", "sigmoid", "b", "")
                + ", "
                + op("out", "softmax", "a m", "\"factor\": 0.5"),
            false,
            (x, _) ->
                softmax(
                    made(6, i -> 0.5 * x[i] - 10000 * (1 - 1 / (1 + Math.exp(-x[6 + i])))), 1e-6)));
    all.add(
        new Case(
            "{\"name\": \"cut\", \"op\": \"slice\", \"in\": [\"x\"], \"out\": [\"a\", \"b\"],"
                + " \"from\": [0, 1], \"to\": [1, 2]}, "
                + op("m", "sequence_mask", "a b", "\"from\": 2, \"to\": 3")
                + ", "
                + op("out", "reshape", "m", "\"steps\": 0, \"width\": 6"),
            false,
            (x, _) -> made(6, i -> i / 3 < x[0] && i % 3 < x[1] ? 1 : 0)));
    all.add(matmul());
    all.add(attention());
    all.add(
        one(
            "pair_vectors",
            "\"width\": 4",
            (x, _) -> made(4, d -> x[d] * x[4 + d] + x[d] * x[8 + d] + x[4 + d] * x[8 + d])));
    all.add(
        new Case(
            "{\"name\": \"cut\", \"op\": \"slice\", \"in\": [\"x\"], \"out\": [\"a\", \"b\"],"
                + " \"from\": [0, 4], \"to\": [4, 12]}, "
                + op("v", "reshape", "b", "\"steps\": 2, \"width\": 4")
                + ", "
                + op("out", "interaction", "a v", ""),
            true,
            (x, _) -> {
              double[] y = Arrays.copyOf(x, 4 + 3 + 1);
              y[4] = dot(x, 4, 0);
              y[5] = dot(x, 8, 0);
              y[6] = dot(x, 8, 4);
              y[7] = 0;
              return y;
            }));
    all.add(
        new Case(
            halves()
                + ", "
                + op("p", "reshape", "a", "\"steps\": 3, \"width\": 2")
                + ", "
                + op("q", "reshape", "b", "\"steps\": 3, \"width\": 2")
                + ", {\"name\": \"j\", \"op\": \"join_slots\", \"in\": [\"p\", \"q\"],"
                + " \"out\": [\"front\", \"last\"], \"all\": false}, "
                + op("flat", "reshape", "front", "\"steps\": 0, \"width\": 8")
                + ", "
                + op("out", "concat", "last flat", "\"axis\": 1"),
            true,
            (x, _) -> {
              int[] from = {4, 5, 10, 11, 0, 1, 6, 7, 2, 3, 8, 9};
              return made(F, i -> x[from[i]]);
            }));
    all.add(
        new Case(
            halves()
                + ", "
                + op("p", "reshape", "a", "\"steps\": 3, \"width\": 2")
                + ", "
                + op("q", "reshape", "b", "\"steps\": 3, \"width\": 2")
                + ", "
                + op("j", "join_slots", "p q", "\"all\": true")
                + ", "
                + op("out", "reshape", "j", "\"steps\": 0, \"width\": 0"),
            true,
            (x, _) -> {
              int[] from = {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11};
              return made(F, i -> x[from[i]]);
            }));
    return all.stream();
  }

  private static double dot(double[] x, int a, int b) {
    return IntStream.range(0, 4).mapToDouble(d -> x[a + d] * x[b + d]).sum();
  }

  private static double[] softmax(double[] scores, double more) {
    double most = Arrays.stream(scores).max().orElseThrow();
    double[] powers = map(scores, s -> Math.exp(s - most));
    double sum = Arrays.stream(powers).sum() + more;
    return map(powers, p -> p / sum);
  }

  private static Case matmul() {
    return new Case(
        halves()
            + ", "
            + op("p", "reshape", "a", "\"steps\": 2, \"width\": 3")
            + ", "
            + op("q", "reshape", "b", "\"steps\": 3, \"width\": 2")
            + ", "
            + op("m", "matmul", "p q", "")
            + ", "
            + op("out", "reshape", "m", "\"steps\": 0, \"width\": 4"),
        true,
        (x, _) ->
            made(
                4,
                i ->
                    IntStream.range(0, 3)
                        .mapToDouble(k -> x[i / 2 * 3 + k] * x[6 + 2 * k + i % 2])
                        .sum()));
  }

  private static Case attention() {
    return new Case(
        op("q", "reshape", "x", "\"steps\": 3, \"width\": 4")
            + ", "
            + op("m", "attention", "q q q", "\"heads\": 2")
            + ", "
            + op("out", "reshape", "m", "\"steps\": 0, \"width\": 12"),
        true,
        (x, _) -> {
          double[] y = new double[F];
          for (int i = 0; i < 3; i++) {
            for (int h = 0; h < 2; h++) {
              int query = 4 * i + 2 * h;
              int head = 2 * h;
              double[] shares =
                  softmax(
                      made(
                          3,
                          j ->
                              (x[query] * x[4 * j + head] + x[query + 1] * x[4 * j + head + 1])
                                  / Math.sqrt(2)),
                      0);
              for (int d = 0; d < 2; d++) {
                for (int j = 0; j < 3; j++) {
                  y[query + d] += shares[j] * x[4 * j + head + d];
                }
              }
            }
          }
          return y;
        });
  }

  private static Schema schema(int labels) {
    return new Schema(
        IntStream.range(0, labels).mapToObj(l -> "y" + l).toList(),
        IntStream.range(0, F).mapToObj(f -> "n" + f).toList(),
        List.of(Slot.oneHot("a"), Slot.oneHot("b")));
  }

  static Graph graph(String layers) {
    return Graph.parse(
        "{\"inputs\": [{\"name\": \"x\", \"kind\": \"numbers\"}], \"layers\": [%s], \"logits\": [\"out\"]}"
            .formatted(layers),
        "test");
  }

  private static GraphModel model(Graph graph, Parameters parameters) {
    return new GraphModel(graph, SlotWidths.of(2, Map.of(), schema(1)), schema(1), parameters);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aLayerFollowsItsEquationAndItsGradientItsDifferences(Case layer) {
    Random random = new Random(layer.layers.hashCode());
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 4);
      Variable x = Variable.zeros(device, "x", Shape.of(B, F));
      GraphModel model = model(graph(layer.layers), parameters);
      Map<String, double[]> values = new LinkedHashMap<>();
      List<Variable> all = new ArrayList<>(List.of(x));
      all.addAll(parameters.all());
      all.addAll(parameters.statistics());
      for (Variable variable : all) {
        float[] drawn = new float[variable.shape().elements()];
        for (int i = 0; i < drawn.length; i++) {
          boolean positive = variable.name().endsWith(".variance");
          double value = random.nextGaussian();
          drawn[i] = (float) (positive ? 0.5 + value * value : value);
        }
        variable.set(drawn);
        values.put(variable.name(), doubles(drawn));
      }
      Tensor parts = Tensor.zeros(Shape.of(B, 2, 2));
      Tensor out = model.logits(new Features(x.tensor(), List.of(parts), Pass.scoring()));
      double[] expected = equation(layer, values);
      double[] factors = made(expected.length, _ -> random.nextGaussian());
      Tensor loss = out.reshape(-1).mul(Tensor.of(Shape.of(factors.length), floats(factors))).sum();
      List<Variable> learned = new ArrayList<>(List.of(x));
      learned.addAll(parameters.all());
      List<Tensor> outputs = new ArrayList<>(List.of(out));
      outputs.addAll(Tensor.gradients(loss, learned.stream().map(Variable::tensor).toList()));
      List<float[]> got = computed(device, outputs);
      compare("output", got.getFirst(), expected, 2e-5);
      for (int v = 0; v < learned.size() && layer.smooth; v++) {
        double[] slopes = slopes(layer, values, learned.get(v).name(), factors);
        compare(learned.get(v).name(), got.get(1 + v), slopes, 1e-3);
      }
    }
  }

  private static List<float[]> computed(Device device, List<Tensor> outputs) {
    try (Computation computation = Computation.of(device, outputs, Map.of())) {
      computation.run();
      List<float[]> all = new ArrayList<>();
      for (int i = 0; i < outputs.size(); i++) {
        float[] values = new float[outputs.get(i).shape().elements()];
        computation.copyOutput(i, values, 0);
        all.add(values);
      }
      return all;
    }
  }

  private static double[] equation(Case layer, Map<String, double[]> values) {
    List<Double> all = new ArrayList<>();
    for (int b = 0; b < B; b++) {
      double[] row = Arrays.copyOfRange(values.getOrDefault("x", new double[0]), b * F, b * F + F);
      Arrays.stream(layer.equation.of(row, values)).forEach(all::add);
    }
    return all.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static double[] slopes(
      Case layer, Map<String, double[]> values, String name, double[] factors) {
    double[] own = values.getOrDefault(name, new double[0]);
    double[] slopes = new double[own.length];
    double step = 1e-6;
    for (int i = 0; i < own.length; i++) {
      double kept = own[i];
      own[i] = kept + step;
      double above = weighed(equation(layer, values), factors);
      own[i] = kept - step;
      double below = weighed(equation(layer, values), factors);
      own[i] = kept;
      slopes[i] = (above - below) / (2 * step);
    }
    return slopes;
  }

  private static double weighed(double[] values, double[] factors) {
    return IntStream.range(0, values.length).mapToDouble(i -> values[i] * factors[i]).sum();
  }

  private static void compare(String what, float[] got, double[] expected, double most) {
    assertThat(got).as(what).hasSameSizeAs(expected);
    for (int i = 0; i < expected.length; i++) {
      assertThat((double) got[i])
          .as("%s %d", what, i)
          .isCloseTo(expected[i], within(most * Math.max(1, Math.abs(expected[i]))));
    }
  }

  private static double[] doubles(float[] values) {
    return made(values.length, i -> values[i]);
  }

  private static float[] floats(double[] values) {
    float[] floats = new float[values.length];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = (float) values[i];
    }
    return floats;
  }

  @Test
  void dropoutDropsInTrainingAlone() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Graph graph = graph(op("out", "dropout", "x", "\"rate\": 0.5"));
      GraphModel model = model(graph, new Parameters(device, 0));
      Variable seed = Variable.of(device, "seed", Shape.of(1), DType.I64);
      seed.setLong(3);
      Tensor x = Tensor.full(Shape.of(B, F), 1);
      Tensor parts = Tensor.zeros(Shape.of(B, 2, 2));
      Tensor out = model.logits(new Features(x, List.of(parts), Pass.training(seed)));
      float[] dropped = computed(device, List.of(out)).getFirst();
      assertThat(dropped).contains(0f, 2f).doesNotContain(1f);
    }
  }

  @Test
  void aGraphReadsTheColumnsThatItsInputsName() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Graph graph =
          Graph.parse(
              """
              {"inputs": [
                {"name": "n", "kind": "numbers", "columns": ["n3", "n4", "n1"]},
                {"name": "v", "kind": "vectors", "columns": ["b", "a"]},
                {"name": "all", "kind": "features"}],
               "layers": [
                {"name": "flat", "op": "reshape", "in": ["v"], "steps": 0, "width": 4},
                {"name": "out", "op": "concat", "in": ["n", "flat", "all"], "axis": 1}],
               "logits": ["out"]}
              """,
              "test");
      GraphModel model = model(graph, new Parameters(device, 0));
      Tensor x = Tensor.of(Shape.of(1, F), floats(made(F, i -> i)));
      Tensor parts = Tensor.of(Shape.of(1, 2, 2), 20, 21, 22, 23);
      Tensor logits = model.logits(new Features(x, List.of(parts), Pass.scoring()));
      float[] out = computed(device, List.of(logits)).getFirst();
      assertThat(Arrays.copyOf(out, 11)).containsExactly(3, 4, 1, 22, 23, 20, 21, 20, 21, 22, 23);
      assertThat(out).hasSize(7 + 4 + F).endsWith(11);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "reshape | 'steps': 0, 'width': 5 | a multiple of 5 numbers for each row",
        "reshape | 'steps': 5, 'width': 0 | a multiple of 5 numbers for each row",
        "sequence_mask | 'from': 2, 'to': 2 | got 1 inputs",
        "slice | 'from': [2], 'to': [13] | a last dimension of 13 or more",
        "pair_vectors | 'width': 5 | [B, n * 5]",
        "slot_weights | 'slots': 5, 'width': 2 | [B, 5]",
        "sum | 'axis': 2 | 3 dimensions or more",
        "pick | 'slots': [1] | [B, 2 or more, D]",
        "attention | 'heads': 2 | got 1 inputs",
      })
  void sizesThatDoNotFitAreRefusedByTheirLayer(String op, String numbers, String part) {
    String layer = op("out", op, "x", numbers.replace('\'', '"'));
    try (Device device = Device.cpu(1, 1L << 24)) {
      assertThatThrownBy(() -> model(graph(layer), new Parameters(device, 0)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("layer out (" + op + ")")
          .hasMessageContaining(part);
    }
  }

  @Test
  void lengthsOfOtherRowsAreRefusedByTheMaskThatReadsThem() {
    String layers =
        "{\"name\": \"cut\", \"op\": \"slice\", \"in\": [\"x\"], \"out\": [\"a\", \"b\"],"
            + " \"from\": [0, 1], \"to\": [2, 2]}, "
            + op("folded", "reshape", "a", "\"steps\": 0, \"width\": 1")
            + ", "
            + op("out", "sequence_mask", "b folded", "\"from\": 2, \"to\": 3");
    try (Device device = Device.cpu(1, 1L << 24)) {
      assertThatThrownBy(() -> model(graph(layers), new Parameters(device, 0)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("layer out (sequence_mask)")
          .hasMessageContaining("got the input [2 * B, 1], expected [B, 1] as the first");
    }
  }

  @Test
  void aReshapeOfNoNumbersIsRefusedAsItWouldLoseAllRows() {
    Graph graph =
        Graph.parse(
            """
            {"inputs": [{"name": "n", "kind": "numbers"}],
             "layers": [{"name": "out", "op": "reshape", "in": ["n"], "steps": 0, "width": 4}],
             "logits": ["out"]}
            """,
            "test");
    Schema none = new Schema(List.of("y"), List.of(), List.of(Slot.oneHot("a")));
    try (Device device = Device.cpu(1, 1L << 24)) {
      assertThatThrownBy(() ->
              new GraphModel(
                  graph, SlotWidths.of(2, Map.of(), none), none, new Parameters(device, 0)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("layer out (reshape): got the input [B, 0], expected a multiple");
    }
  }

  @Test
  void logitsOfMoreThanARowAreRefused() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Graph graph = graph(op("out", "reshape", "x", "\"steps\": 0, \"width\": 6"));
      assertThatThrownBy(() -> model(graph, new Parameters(device, 0)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("logits out: got the shape [2 * B, 6]");
    }
  }

  @Test
  void parametersBeyondALimitAreRefusedBeforeTheyTakeMemory() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Graph graph = graph(op("out", "linear", "x", "\"outputs\": 16000000"));
      assertThatThrownBy(() -> model(graph, new Parameters(device, 0, 1000)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected at most 1000");
    }
  }
}
