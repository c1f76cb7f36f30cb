package dev.tern.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.nn.Activation;
import dev.tern.nn.Features;
import dev.tern.nn.Form;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Logits of every model beside its formula in plain Java, row by row. */
final class ModelsTest {
  private static final int B = 3;
  private static final int F = 2;
  private static final int S = 3;
  private static final int D = 2;
  private static final int HEADS = 2;
  private static final Schema SCHEMA =
      new Schema(
          List.of("y"),
          List.of("a", "b"),
          List.of(Slot.oneHot("u"), Slot.oneHot("v"), Slot.ragged("w")));

  /** One row and the parameters, in plain Java. */
  record Plain(double[] dense, double[][] embedded, Map<String, Variable> parameters) {
    double[] vector(String name) {
      float[] values = parameters.get(name).toArray();
      double[] result = new double[values.length];
      Arrays.setAll(result, i -> values[i]);
      return result;
    }

    double[] linear(String name, double[] x) {
      float[] weight = parameters.get(name + ".weight").toArray();
      float[] bias = parameters.get(name + ".bias").toArray();
      double[] out = new double[bias.length];
      for (int j = 0; j < out.length; j++) {
        out[j] = bias[j];
        for (int i = 0; i < x.length; i++) {
          out[j] += x[i] * weight[i * out.length + j];
        }
      }
      return out;
    }

    double[] mlp(String name, double[] x) {
      double[] out = x;
      for (int i = 0; parameters.containsKey(name + "." + i + ".weight"); i++) {
        out = Arrays.stream(linear(name + "." + i, out)).map(v -> Math.max(v, 0)).toArray();
      }
      return out;
    }

    double first(String name) {
      return Arrays.stream(embedded).mapToDouble(v -> v[0]).sum() + linear(name, dense)[0];
    }

    double[][] vectors(int from) {
      return Arrays.stream(embedded)
          .map(v -> Arrays.copyOfRange(v, from, v.length))
          .toArray(double[][]::new);
    }

    double[] flat(int from) {
      double[] result = {};
      for (double[] vector : vectors(from)) {
        result = join(result, vector);
      }
      return join(result, dense);
    }

    double pairs() {
      return Arrays.stream(dots(vectors(1))).sum();
    }

    double[] cross(double[] x, boolean matrices) {
      double[] c = x;
      for (int l = 0; parameters.containsKey("cross." + l + ".weight"); l++) {
        float[] bias = parameters.get("cross." + l + ".bias").toArray();
        float[] weight = parameters.get("cross." + l + ".weight").toArray();
        double[] next = new double[x.length];
        for (int j = 0; j < x.length; j++) {
          double product = 0;
          for (int i = 0; i < x.length; i++) {
            product += c[i] * weight[matrices ? i * x.length + j : i];
          }
          next[j] = matrices ? x[j] * (product + bias[j]) + c[j] : x[j] * product + bias[j] + c[j];
        }
        c = next;
      }
      return c;
    }

    double dlrm() {
      double[] z = mlp("bottom", dense);
      List<double[]> all = new ArrayList<>(List.of(z));
      all.addAll(Arrays.asList(embedded));
      double[] joined = join(z, dots(all.toArray(double[][]::new)));
      return linear("out", mlp("top", joined))[0];
    }

    double crossed(boolean matrices) {
      return linear("out", join(cross(flat(0), matrices), mlp("deep", flat(0))))[0];
    }

    double deep() {
      return linear("out", mlp("deep", flat(1)))[0];
    }

    double residual() {
      double[] x = flat(0);
      for (int i = 0; parameters.containsKey("unit." + i + ".inner.weight"); i++) {
        double[] inner = linear("unit." + i + ".inner", x);
        double[] added = linear("unit." + i + ".outer", PlainTransformer.relu(inner));
        double[] from = x;
        x = new double[from.length];
        Arrays.setAll(x, j -> Math.max(0, from[j] + added[j]));
      }
      return linear("out", x)[0];
    }

    double tower(int task, double[] x) {
      return linear("out." + task, mlp("tower." + task, x))[0];
    }

    double[] mixed(int task) {
      float[] weight = parameters.get("gate." + task + ".out.weight").toArray();
      double[] x = flat(0);
      int experts = weight.length / x.length;
      double[] gate = new double[experts];
      for (int i = 0; i < weight.length; i++) {
        gate[i % experts] += x[i / experts] * weight[i];
      }
      double sum = Arrays.stream(gate).map(Math::exp).sum();
      double[] mixed = {};
      for (int e = 0; e < experts; e++) {
        double[] output = mlp("expert." + e, x);
        mixed = e == 0 ? new double[output.length] : mixed;
        for (int i = 0; i < output.length; i++) {
          mixed[i] += Math.exp(gate[e]) / sum * output[i];
        }
      }
      return mixed;
    }

    /** The logits of two tasks. */
    double[] logits(ModelConfig.Type type) {
      return switch (type) {
        case SHAREDBOTTOM -> {
          double[] shared = mlp("bottom", flat(0));
          yield new double[] {tower(0, shared), tower(1, shared)};
        }
        case MMOE -> new double[] {tower(0, mixed(0)), tower(1, mixed(1))};
        default -> {
          double click = tower(0, flat(0));
          double both = sigmoid(click) * sigmoid(tower(1, flat(0)));
          yield new double[] {click, Math.log(both / (1 - both))};
        }
      };
    }

    private static double sigmoid(double x) {
      return 1 / (1 + Math.exp(-x));
    }

    double logit(ModelConfig.Type type) {
      return switch (type) {
        case LR -> first("linear");
        case FM -> first("linear") + pairs();
        case WDL -> first("wide") + deep();
        case DEEPFM -> first("linear") + pairs() + deep();
        case DCN -> crossed(false);
        case DCNV2 -> crossed(true);
        case DLRM -> dlrm();
        case DEEPCROSSING -> residual();
        case TRANSFORMER -> new PlainTransformer(this, HEADS).logit();
        case SHAREDBOTTOM -> tower(0, mlp("bottom", flat(0)));
        case MMOE -> tower(0, mixed(0));
        default ->
            throw new IllegalArgumentException("tested on rows of their own, or beside PyTorch");
      };
    }

    private static double[] join(double[] a, double[] b) {
      double[] joined = Arrays.copyOf(a, a.length + b.length);
      System.arraycopy(b, 0, joined, a.length, b.length);
      return joined;
    }

    private static double[] dots(double[][] vectors) {
      List<Double> dots = new ArrayList<>();
      for (int i = 0; i < vectors.length; i++) {
        for (int j = 0; j < i; j++) {
          double dot = 0;
          for (int d = 0; d < vectors[i].length; d++) {
            dot += vectors[i][d] * vectors[j][d];
          }
          dots.add(dot);
        }
      }
      return dots.stream().mapToDouble(Double::doubleValue).toArray();
    }
  }

  private static ModelConfig config(ModelConfig.Type type) {
    int heads = type == ModelConfig.Type.TRANSFORMER ? HEADS : 1;
    return ModelConfig.of(type, D, 4, 3)
        .withDropout(0.5f)
        .withBottom(5)
        .withCrossLayers(2)
        .withHeads(heads);
  }

  private static float[] random(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      names = {
        "LR",
        "FM",
        "WDL",
        "DEEPFM",
        "DCN",
        "DCNV2",
        "DLRM",
        "DEEPCROSSING",
        "TRANSFORMER",
        "SHAREDBOTTOM",
        "MMOE"
      })
  void logitsFollowTheFormula(ModelConfig.Type type) {
    Random random = new Random(3);
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      Model model = config(type).create(SCHEMA, parameters);
      int width = model.embeddingWidth();
      float[] dense = random(random, B * F);
      float[] embedded = random(random, B * S * width);
      Features features =
          new Features(Tensor.of(Shape.of(B, F), dense), parts(model, embedded), Pass.scoring());
      float[] logits = model.logits(features).toArray();
      assertThat(logits).hasSize(B);
      Map<String, Variable> byName =
          parameters.all().stream().collect(Collectors.toMap(Variable::name, Function.identity()));
      for (int b = 0; b < B; b++) {
        double expected =
            new Plain(row(dense, b * F, F), rows(embedded, b * S, width), byName).logit(type);
        assertThat((double) logits[b]).as("row %d", b).isCloseTo(expected, within(1e-4));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      names = {
        "LR",
        "FM",
        "WDL",
        "DEEPFM",
        "DCN",
        "DCNV2",
        "DLRM",
        "DEEPCROSSING",
        "TRANSFORMER",
        "SHAREDBOTTOM",
        "MMOE"
      })
  void whatEachModelDoesWithTheFeaturesOfASlot(ModelConfig.Type type) {
    boolean pairs = type == ModelConfig.Type.FM || type == ModelConfig.Type.DEEPFM;
    Schema oneHot = new Schema(List.of("y"), List.of(), List.of(Slot.oneHot("u")));
    try (Device device = Device.cpu(1, 1L << 24)) {
      Model model = config(type).create(SCHEMA, new Parameters(device, 9));
      assertThat(model.pairsWithin()).isEqualTo(pairs);
      assertThat(config(type).create(oneHot, new Parameters(device, 9)).pairsWithin()).isFalse();
      if (!pairs) {
        assertThatThrownBy(() -> config(type).withPairs(ModelConfig.Pairs.FEATURES))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageStartingWith("model: got pairs of features for " + type);
        return;
      }
      ModelConfig ofSlots = config(type).withPairs(ModelConfig.Pairs.SLOTS);
      assertThat(ofSlots.create(SCHEMA, new Parameters(device, 9)).pairsWithin()).isFalse();
      Tensor dense = Tensor.full(Shape.of(B, F), 1);
      List<Tensor> parts = parts(model, new float[B * S * model.embeddingWidth()]);
      Tensor within = Tensor.of(Shape.of(B, S), 1, 2, 3, 0, 0, 0, 4, 0, -6);
      float[] sums = {6, 0, -2};
      float[] without = model.logits(new Features(dense, parts, Pass.scoring())).toArray();
      Features paired = new Features(dense, parts, Optional.of(within), Pass.scoring());
      float[] logits = model.logits(paired).toArray();
      for (int b = 0; b < B; b++) {
        assertThat(logits[b]).isCloseTo(without[b] + sums[b], within(1e-5f));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      names = {"SHAREDBOTTOM", "MMOE", "ESMM"})
  void logitsOfSeveralTasksFollowTheFormula(ModelConfig.Type type) {
    Random random = new Random(4);
    Schema schema = new Schema(List.of("y", "z"), SCHEMA.dense(), SCHEMA.slots());
    ModelConfig towered = config(type).withTowers(new Towers(List.of(), List.of(3), 3, List.of()));
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      Model model = towered.create(schema, parameters);
      float[] dense = random(random, B * F);
      float[] embedded = random(random, B * S * D);
      Features features =
          new Features(Tensor.of(Shape.of(B, F), dense), parts(model, embedded), Pass.scoring());
      Tensor logits = model.logits(features);
      assertThat(logits.shape()).isEqualTo(Shape.of(B, 2));
      float[] got = logits.toArray();
      Map<String, Variable> byName =
          parameters.all().stream().collect(Collectors.toMap(Variable::name, Function.identity()));
      for (int b = 0; b < B; b++) {
        double[] expected =
            new Plain(row(dense, b * F, F), rows(embedded, b * S, D), byName).logits(type);
        assertThat((double) got[2 * b]).isCloseTo(expected[0], within(1e-4));
        assertThat((double) got[2 * b + 1]).isCloseTo(expected[1], within(1e-4));
      }
    }
  }

  @Test
  void blocksThatTeachEachOtherAProbabilityNeedACrossEntropy() {
    Task squared = Task.of("y").withLoss(Loss.SQUARED_ERROR);
    ModelConfig two = config(ModelConfig.Type.FINALNET);
    ModelConfig one = two.withVariant(two.variant().withSecond());
    assertThat(one.withTasks(squared).towers().tasks()).containsExactly(squared);
    Task soft = Task.of("y").withLoss(Loss.SOFT_CROSS_ENTROPY);
    assertThat(two.withTasks(soft).towers().tasks()).containsExactly(soft);
    assertThatThrownBy(() -> two.withTasks(squared))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the loss mse of y for FINALNET with two blocks")
        .hasMessageContaining("expected a binary cross entropy");
  }

  @Test
  void tasksThatAModelCannotHaveAreRefused() {
    Schema three = new Schema(List.of("y", "z", "w"), SCHEMA.dense(), SCHEMA.slots());
    List<Task> both = List.of(Task.of("y"), Task.of("z"));
    Towers towers = new Towers(both, List.of(), 1, List.of());
    assertThatThrownBy(() -> config(ModelConfig.Type.DEEPFM).withTowers(towers))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the tasks [y, z] for DEEPFM, which gives one logit a row");
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      assertThatThrownBy(() -> config(ModelConfig.Type.ESMM).create(three, parameters))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("for ESMM, expected two over all rows");
    }
    assertThatThrownBy(() -> Task.of("y").withWeight(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("task y: got the weight 0.0");
    assertThatThrownBy(() -> Task.of("y").within("y"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("task y: got itself");
    assertThatThrownBy(() -> TaskLabels.of(SCHEMA, both))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("task z: got the label z, expected one of [y]");
    assertThatThrownBy(() -> TaskLabels.of(three, List.of(Task.of("y"), Task.of("y"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got the label y twice");
  }

  /** Rows {@code [B, S, W]} in the parts of a model. */
  private static List<Tensor> parts(Model model, float[] rows) {
    List<Tensor> parts = new ArrayList<>();
    int begin = 0;
    Tensor all = Tensor.of(Shape.of(B, S, model.embeddingWidth()), rows);
    for (int width : model.embeddingParts()) {
      parts.add(all.slice(2, begin, begin + width));
      begin += width;
    }
    assertThat(begin).isEqualTo(model.embeddingWidth());
    return parts;
  }

  private static double[] row(float[] values, int from, int count) {
    double[] row = new double[count];
    Arrays.setAll(row, i -> values[from + i]);
    return row;
  }

  private static double[][] rows(float[] values, int from, int width) {
    double[][] rows = new double[S][];
    Arrays.setAll(rows, s -> row(values, (from + s) * width, width));
    return rows;
  }

  @Test
  void aPartThatAModelDidNotAskForIsRefused() {
    Tensor dense = Tensor.full(Shape.of(B, F), 1);
    Tensor one = Tensor.full(Shape.of(B, S, 1), 1);
    Features whole = new Features(dense, List.of(one), Pass.scoring());
    Features parts = new Features(dense, List.of(one, one), Pass.scoring());
    assertThatThrownBy(() -> whole.embedded(1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("features: got part 1 of rows in 1 parts; name the widths");
    assertThatThrownBy(() -> parts.embedded(-1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(parts::embedded)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("2 parts; name one");
  }

  @Test
  void dlrmJoinsTheBottomVectorWithAllPairs() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      config(ModelConfig.Type.DLRM).create(SCHEMA, parameters);
      Map<String, Shape> shapes =
          parameters.all().stream().collect(Collectors.toMap(Variable::name, Variable::shape));
      assertThat(shapes)
          .containsEntry("bottom.0.weight", Shape.of(F, 5))
          .containsEntry("bottom.1.weight", Shape.of(5, D))
          .containsEntry("top.0.weight", Shape.of(D + (S + 1) * S / 2, 4))
          .containsEntry("top.1.weight", Shape.of(4, 3))
          .containsEntry("out.weight", Shape.of(3, 1));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"ESMM", "DIN", "DIEN", "BST", "SASREC", "HSTU", "NEUMF", "GMF", "TWOTOWER"})
  void modelsWorkWithoutDenseNumbersOrWithoutSlots(ModelConfig.Type type) {
    List<Schema> schemas =
        List.of(
            new Schema(List.of("y"), List.of(), SCHEMA.slots()),
            new Schema(List.of("y"), SCHEMA.dense(), List.of()));
    for (Schema schema : schemas) {
      if (type.has(ModelPart.FIELDS) && schema.slotCount() == 0) {
        requireRefused(type, schema);
        continue;
      }
      try (Device device = Device.cpu(1, 1L << 24)) {
        Model model = config(type).create(schema, new Parameters(device, 9));
        Tensor dense = Tensor.full(Shape.of(B, schema.denseDim()), 1);
        List<Tensor> embedded =
            model.embeddingParts().stream()
                .map(width -> Tensor.full(Shape.of(B, schema.slotCount(), width), 0.5f))
                .toList();
        float[] logits = model.logits(new Features(dense, embedded, Pass.scoring())).toArray();
        assertThat(logits).hasSize(B);
        for (float logit : logits) {
          assertThat(logit).isFinite().isEqualTo(logits[0]);
        }
      }
    }
  }

  private static void requireRefused(ModelConfig.Type type, Schema schema) {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      assertThatThrownBy(() -> config(type).create(schema, parameters))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the slots [] for " + type + ", which compares slots");
    }
  }

  @Test
  void formsAndHeadsThatDoNotFitAreRefused() {
    ModelConfig pnn = ModelConfig.of(ModelConfig.Type.PNN, D, 4);
    assertThatThrownBy(() -> pnn.withVariant(pnn.variant().withForm(Form.STACKED)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got the form STACKED for PNN, expected one of [INNER, OUTER, BOTH]");
    ModelConfig streams = ModelConfig.of(ModelConfig.Type.FINALMLP, D, 4, 3).withHeads(2);
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      assertThatThrownBy(() -> streams.create(SCHEMA, parameters))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got 2 heads for FINALMLP, whose stacks give 3 and 64 numbers");
    }
  }

  @Test
  void settingsWithoutEffectAreRefused() {
    ModelConfig dcn = ModelConfig.of(ModelConfig.Type.DCN, 4, 8);
    assertThatThrownBy(() -> dcn.withCross(2, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("crossRank 2, expected 0 for DCN");
    for (ModelConfig.Type type : List.of(ModelConfig.Type.LR, ModelConfig.Type.FM)) {
      ModelConfig plain = ModelConfig.of(type, 4);
      assertThatThrownBy(() -> plain.withActivation(Activation.DICE, false))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(type + ", whose layers are fixed");
      assertThatThrownBy(() -> plain.withActivation(Activation.RELU, true))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(type + ", whose layers are fixed");
    }
  }
}
