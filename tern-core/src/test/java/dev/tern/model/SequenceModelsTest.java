package dev.tern.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.model.papers.SlotWidths;
import dev.tern.model.sequences.SequenceTarget;
import dev.tern.nn.Features;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Device;
import dev.tern.tensor.PlainStates;
import dev.tern.tensor.Ragged;
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

/** Models of sequences and of two slots beside their formulas in plain Java, row by row. */
final class SequenceModelsTest {
  private static final int D = 3;
  private static final int LONGEST = 6;
  private static final int[] LENGTHS = {3, 0, 6, 1};
  private static final int B = LENGTHS.length;
  private static final Sequence SEEN = Sequence.last("seen", LONGEST);

  /** In the sequence the category comes first, and kinds have no target. */
  private static Schema schema(boolean kinds) {
    List<Slot> slots = new ArrayList<>();
    slots.add(Slot.oneHot("user"));
    slots.add(Slot.oneHot("item"));
    slots.add(Slot.ragged("categories").withTable("category").in(SEEN));
    if (kinds) {
      slots.add(Slot.ragged("kinds").in(SEEN));
    }
    slots.add(Slot.ragged("items").withTable("item").in(SEEN));
    slots.add(Slot.oneHot("category"));
    return new Schema(List.of("y"), List.of("age"), slots);
  }

  private static ModelConfig config(ModelConfig.Type type) {
    return type.has(ModelPart.HEADS)
        ? ModelConfig.of(type, D, 4).withAttention(5, 7).withHeads(3)
        : ModelConfig.of(type, D, 4).withAttention(5, 4);
  }

  private static float[] random(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  /** Inputs of a batch: numbers, vectors of user, item and category, elements of sequences. */
  private record Rows(float[] dense, float[] slots, float[] elements, int columns) {
    static Rows of(Random random, int columns) {
      int elements = Arrays.stream(LENGTHS).sum();
      return new Rows(
          random(random, B),
          random(random, B * 3 * D),
          random(random, elements * columns * D),
          columns);
    }

    Features features(int room) {
      float[] values = Arrays.copyOf(elements, room * columns * D);
      int[] offsets = new int[B + 1];
      for (int b = 0; b < B; b++) {
        offsets[b + 1] = offsets[b] + LENGTHS[b];
      }
      Ragged seen =
          Ragged.of(
              Tensor.of(Shape.of(room, columns * D), values),
              Tensor.ofInts(Shape.of(B + 1), offsets));
      return new Features(
          Tensor.of(Shape.of(B, 1), dense),
          List.of(Tensor.of(Shape.of(B, 3, D), slots)),
          Optional.empty(),
          Map.of("seen", seen),
          Pass.scoring());
    }

    double[] slot(int row, int slot) {
      return part(slots, (row * 3 + slot) * D, D);
    }

    /** Element {@code i} of a row: some of its columns. */
    double[] element(int row, int i, int... of) {
      int first = Arrays.stream(LENGTHS, 0, row).sum();
      double[] joined = {};
      for (int column : of) {
        joined = join(joined, part(elements, ((first + i) * columns + column) * D, D));
      }
      return joined;
    }

    double[] flat(int row) {
      double[] numbers = {dense[row]};
      return join(join(join(slot(row, 0), slot(row, 1)), slot(row, 2)), numbers);
    }
  }

  private static double[] part(float[] of, int from, int count) {
    double[] part = new double[count];
    Arrays.setAll(part, i -> of[from + i]);
    return part;
  }

  private static double[] join(double[] a, double[] b) {
    double[] joined = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, joined, a.length, b.length);
    return joined;
  }

  private static double[] each(double[] a, double[] b, int sign) {
    double[] result = new double[a.length];
    Arrays.setAll(result, i -> sign == 0 ? a[i] * b[i] : a[i] + sign * b[i]);
    return result;
  }

  private static Map<String, Variable> byName(Parameters parameters) {
    return parameters.all().stream().collect(Collectors.toMap(Variable::name, Function.identity()));
  }

  private static ModelsTest.Plain plain(Parameters parameters) {
    return new ModelsTest.Plain(new double[0], new double[0][], byName(parameters));
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      names = {"DIN", "DIEN", "BST", "SASREC", "HSTU"})
  void logitsDoNotDependOnTheRoomForSequences(ModelConfig.Type type) {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Model model = config(type).create(schema(false), new Parameters(device, 9));
      Rows rows = Rows.of(new Random(4), 2);
      float[] tight = model.logits(rows.features(16)).toArray();
      assertThat(model.logits(rows.features(64)).toArray()).isEqualTo(tight);
      for (float logit : tight) {
        assertThat(logit).isFinite();
      }
    }
  }

  @Test
  void dinFollowsItsFormula() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      Model model = config(ModelConfig.Type.DIN).create(schema(true), parameters);
      Rows rows = Rows.of(new Random(4), 3);
      float[] logits = model.logits(rows.features(16)).toArray();
      ModelsTest.Plain plain = plain(parameters);
      for (int b = 0; b < B; b++) {
        double[] query = join(rows.slot(b, 2), rows.slot(b, 1));
        double[] sum = new double[3 * D];
        for (int i = 0; i < LENGTHS[b]; i++) {
          double[] shared = rows.element(b, i, 0, 2);
          double[] key = rows.element(b, i, 0, 2, 1);
          double[] input =
              join(join(join(query, key), each(query, shared, -1)), each(query, shared, 0));
          double[] hidden = relu(plain.linear("attention.seen.0", input));
          double factor =
              plain
                  .linear(
                      "attention.seen.out", relu(plain.linear("attention.seen.rest.0", hidden)))[0];
          for (int j = 0; j < sum.length; j++) {
            sum[j] += factor * key[j];
          }
        }
        double expected = plain.linear("out", plain.mlp("deep", join(rows.flat(b), sum)))[0];
        assertThat((double) logits[b]).as("row %d", b).isCloseTo(expected, within(1e-4));
      }
    }
  }

  @Test
  void dienFollowsItsFormula() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      Model model = config(ModelConfig.Type.DIEN).create(schema(true), parameters);
      Rows rows = Rows.of(new Random(4), 3);
      float[] logits = model.logits(rows.features(16)).toArray();
      ModelsTest.Plain plain = plain(parameters);
      for (int b = 0; b < B; b++) {
        double[] query = join(rows.slot(b, 2), rows.slot(b, 1));
        double[][] elements = new double[LENGTHS[b]][];
        for (int i = 0; i < elements.length; i++) {
          elements[i] = rows.element(b, i, 0, 2, 1);
        }
        double[] ones = new double[elements.length];
        Arrays.fill(ones, 1);
        double[][] states = states(plain, "interest.seen.states", elements, ones);
        double[] shares = shares(states, query, plain.vector("interest.seen.attention"));
        double[][] evolved = states(plain, "interest.seen.evolution", states, shares);
        double[] last = evolved.length == 0 ? new double[3 * D] : evolved[evolved.length - 1];
        double expected = plain.linear("out", plain.mlp("deep", join(rows.flat(b), last)))[0];
        assertThat((double) logits[b]).as("row %d", b).isCloseTo(expected, within(1e-4));
      }
    }
  }

  private static double[][] states(
      ModelsTest.Plain plain, String name, double[][] elements, double[] factors) {
    double[][] gates = new double[elements.length][];
    Arrays.setAll(gates, i -> plain.linear(name + ".gates", elements[i]));
    return PlainStates.of(gates, factors, plain.vector(name + ".recurrent"));
  }

  /** The softmax of {@code h . (q A)}. */
  private static double[] shares(double[][] states, double[] query, double[] attention) {
    double[] shares = new double[states.length];
    for (int i = 0; i < shares.length; i++) {
      double fit = 0;
      for (int k = 0; k < attention.length; k++) {
        int width = states[i].length;
        fit += query[k / width] * attention[k] * states[i][k % width];
      }
      shares[i] = Math.exp(fit);
    }
    double sum = Arrays.stream(shares).sum();
    return Arrays.stream(shares).map(share -> share / sum).toArray();
  }

  private static double[] relu(double[] x) {
    return Arrays.stream(x).map(v -> Math.max(v, 0)).toArray();
  }

  @Test
  void bstFollowsItsFormula() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      Model model = config(ModelConfig.Type.BST).create(schema(false), parameters);
      Rows rows = Rows.of(new Random(4), 2);
      float[] logits = model.logits(rows.features(16)).toArray();
      ModelsTest.Plain plain = plain(parameters);
      double[] places = plain.vector("transformer.seen.places");
      for (int b = 0; b < B; b++) {
        int length = LENGTHS[b];
        double[][] tokens = new double[length + 1][];
        for (int i = 0; i <= length; i++) {
          double[] columns =
              i < length ? rows.element(b, i, 0, 1) : join(rows.slot(b, 2), rows.slot(b, 1));
          int place = (length - i) * D;
          tokens[i] = join(columns, Arrays.copyOfRange(places, place, place + D));
        }
        for (int block = 0; block < 2; block++) {
          tokens = block(plain, "transformer.seen." + block, tokens);
        }
        double[] input = join(rows.flat(b), tokens[length]);
        double expected = plain.linear("out", plain.mlp("deep", input))[0];
        assertThat((double) logits[b]).as("row %d", b).isCloseTo(expected, within(2e-4));
      }
    }
  }

  private static double[][] block(ModelsTest.Plain plain, String name, double[][] x) {
    double[][] result = new double[x.length][];
    for (int i = 0; i < x.length; i++) {
      double[] s = norm(plain, name + ".between", each(x[i], attend(plain, name, x, i), 1));
      double[] z =
          Arrays.stream(plain.linear(name + ".inner", s)).map(v -> Math.max(v, 0.01 * v)).toArray();
      result[i] = norm(plain, name + ".after", each(s, plain.linear(name + ".outer", z), 1));
    }
    return result;
  }

  private static double[] attend(ModelsTest.Plain plain, String name, double[][] x, int i) {
    int width = x[i].length;
    int heads = 3;
    int d = width / heads;
    double[] q = plain.linear(name + ".attention.queries", x[i]);
    double[] found = new double[width];
    for (int h = 0; h < heads; h++) {
      double[] weights = new double[x.length];
      for (int t = 0; t < x.length; t++) {
        double[] k = plain.linear(name + ".attention.keys", x[t]);
        double dot = 0;
        for (int j = h * d; j < (h + 1) * d; j++) {
          dot += q[j] * k[j];
        }
        weights[t] = Math.exp(dot / Math.sqrt(d));
      }
      double sum = Arrays.stream(weights).sum();
      for (int t = 0; t < x.length; t++) {
        double[] v = plain.linear(name + ".attention.values", x[t]);
        for (int j = h * d; j < (h + 1) * d; j++) {
          found[j] += weights[t] / sum * v[j];
        }
      }
    }
    return plain.linear(name + ".attention.out", found);
  }

  private static double[] norm(ModelsTest.Plain plain, String name, double[] x) {
    double mean = Arrays.stream(x).average().orElseThrow();
    double variance = Arrays.stream(x).map(v -> (v - mean) * (v - mean)).average().orElseThrow();
    double[] gain = plain.vector(name + ".gamma");
    double[] bias = plain.vector(name + ".beta");
    double[] result = new double[x.length];
    Arrays.setAll(result, j -> (x[j] - mean) / Math.sqrt(variance + 1e-5) * gain[j] + bias[j]);
    return result;
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      names = {"NEUMF", "GMF"})
  void factorizationsFollowTheirFormulas(ModelConfig.Type type) {
    boolean deep = type == ModelConfig.Type.NEUMF;
    Schema pairs =
        new Schema(
            List.of("y"),
            deep ? List.of("age") : List.of(),
            List.of(Slot.oneHot("user"), Slot.oneHot("item")));
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      Model model = ModelConfig.of(type, D, 4, 2).create(pairs, parameters);
      assertThat(model.embeddingWidth()).isEqualTo(deep ? 2 * D : D);
      Random random = new Random(2);
      float[] dense = random(random, deep ? B : 0);
      float[] factors = random(random, B * 2 * D);
      float[] others = random(random, B * 2 * D);
      List<Tensor> parts = new ArrayList<>(List.of(Tensor.of(Shape.of(B, 2, D), factors)));
      if (deep) {
        parts.add(Tensor.of(Shape.of(B, 2, D), others));
      }
      Tensor numbers = Tensor.of(Shape.of(B, deep ? 1 : 0), dense);
      float[] logits = model.logits(new Features(numbers, parts, Pass.scoring())).toArray();
      ModelsTest.Plain plain = plain(parameters);
      for (int b = 0; b < B; b++) {
        double[] product = each(part(factors, 2 * b * D, D), part(factors, (2 * b + 1) * D, D), 0);
        if (deep) {
          double[] flat = join(part(others, 2 * b * D, 2 * D), part(dense, b, 1));
          product = join(product, plain.mlp("deep", flat));
        }
        double[] weights = plain.vector("out.weight");
        double expected = 0;
        for (int j = 0; j < product.length; j++) {
          expected += product[j] * weights[j];
        }
        assertThat((double) logits[b]).isCloseTo(expected, within(1e-4));
      }
    }
  }

  @Test
  void modelsSayWhatTheyNeedOfTheirRows() {
    Schema none = new Schema(List.of("y"), List.of(), List.of(Slot.oneHot("item")));
    Schema alone =
        new Schema(
            List.of("y"), List.of(), List.of(Slot.oneHot("item"), Slot.ragged("items").in(SEEN)));
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      assertThatThrownBy(() -> config(ModelConfig.Type.DIN).create(none, parameters))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got rows without sequences for DIN, expected one");
      assertThatThrownBy(() -> config(ModelConfig.Type.DIN).create(alone, parameters))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the sequence seen, whose columns share no table");
      Slot other = Slot.ragged("liked").withTable("item");
      Slot third = Slot.ragged("bought").withTable("item");
      Slot seen = Slot.ragged("items").withTable("item").in(SEEN);
      Schema owned = new Schema(List.of("y"), List.of(), List.of(other, Slot.oneHot("item"), seen));
      assertThat(
              SequenceTarget.of(owned, "DIN", SlotWidths.of(D, Map.of(), owned))
                  .getFirst()
                  .targets())
          .containsExactly(1);
      Slot owner = Slot.ragged("item").in(SEEN);
      Schema one = new Schema(List.of("y"), List.of(), List.of(owner, other));
      assertThat(
              SequenceTarget.of(one, "DIN", SlotWidths.of(D, Map.of(), one)).getFirst().targets())
          .containsExactly(0);
      Schema two = new Schema(List.of("y"), List.of(), List.of(owner, other, third));
      assertThatThrownBy(() -> config(ModelConfig.Type.DIN).create(two, parameters))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("column item shares a table with liked and bought");
      assertThatThrownBy(() -> config(ModelConfig.Type.BST).create(schema(true), parameters))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected a target of each for BST");
      assertThatThrownBy(() ->
              config(ModelConfig.Type.BST)
                  .withHeads(2)
                  .create(schema(false), new Parameters(device, 9)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got 2 heads for elements of 9 numbers, expected a divisor");
      assertThatThrownBy(
              () -> ModelConfig.of(ModelConfig.Type.GMF, D).create(schema(false), parameters))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(
              "expected two slots, of users and of items, and no numbers for GMF");
      assertThatThrownBy(() -> ModelConfig.of(ModelConfig.Type.DIN, D, 4).withAttention())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("one hidden layer or more");
      Features plain =
          new Features(
              Tensor.zeros(Shape.of(1, 0)),
              List.of(Tensor.zeros(Shape.of(1, 1, D))),
              Pass.scoring());
      assertThatThrownBy(() -> plain.sequence("seen"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("the sequence seen, expected one of []");
    }
  }
}
