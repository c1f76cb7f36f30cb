package dev.tern.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.nn.Features;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Logits of two towers beside their formula in plain Java, and which columns each one reads. */
final class TwoTowerTest {
  private static final int B = 3;
  private static final int D = 2;

  /** The item's columns stand between the user's. */
  private static final Schema SCHEMA =
      new Schema(
          List.of("y"),
          List.of("age", "price", "hour"),
          List.of(
              Slot.oneHot("user"),
              Slot.oneHot("item"),
              Slot.ragged("category"),
              Slot.oneHot("city")));

  private static ModelConfig config(Matching matching) {
    return ModelConfig.of(ModelConfig.Type.TWOTOWER, D, 4, 3).withMatching(matching);
  }

  private static float[] random(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  private static Features features(float[] dense, float[] embedded) {
    return new Features(
        Tensor.of(Shape.of(B, 3), dense),
        List.of(Tensor.of(Shape.of(B, 4, D), embedded)),
        Pass.scoring());
  }

  private static double[] tower(Map<String, Variable> byName, String name, double... input) {
    double[] hidden = linear(byName, name + ".0", input);
    for (int j = 0; j < hidden.length; j++) {
      hidden[j] = Math.max(0, hidden[j]);
    }
    return linear(byName, name + ".out", hidden);
  }

  private static double[] linear(Map<String, Variable> byName, String name, double[] input) {
    float[] weight = byName.get(name + ".weight").toArray();
    float[] bias = byName.get(name + ".bias").toArray();
    assertThat(weight).hasSize(input.length * bias.length);
    double[] out = new double[bias.length];
    for (int j = 0; j < out.length; j++) {
      out[j] = bias[j];
      for (int i = 0; i < input.length; i++) {
        out[j] += input[i] * weight[i * out.length + j];
      }
    }
    return out;
  }

  private static double dot(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theLogitIsTheProductOfBothVectorsOverTheTemperature(boolean normalized) {
    Matching matching = new Matching(List.of("item", "category", "price"), 0.25f, normalized, true);
    Random random = new Random(1);
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      Model model = config(matching).create(SCHEMA, parameters);
      Map<String, Variable> byName =
          parameters.all().stream().collect(Collectors.toMap(Variable::name, Function.identity()));
      float[] x = random(random, B * 3);
      float[] e = random(random, B * 4 * D);
      float[] logits = model.logits(features(x, e)).toArray();
      for (int b = 0; b < B; b++) {
        int at = b * 4 * D;
        double[] item =
            tower(byName, "item", e[at + 2], e[at + 3], e[at + 4], e[at + 5], x[b * 3 + 1]);
        double[] user =
            tower(byName, "user", e[at], e[at + 1], e[at + 6], e[at + 7], x[b * 3], x[b * 3 + 2]);
        double length = Math.sqrt(dot(item, item) * dot(user, user));
        double expected = dot(user, item) / (normalized ? length : 1) / 0.25;
        assertThat((double) logits[b]).isCloseTo(expected, within(1e-5 * (1 + Math.abs(expected))));
      }
    }
  }

  @Test
  void eachVectorDependsOnItsOwnColumnsAlone() {
    Random random = new Random(2);
    try (Device device = Device.cpu(1, 1L << 24)) {
      RetrievalModel model =
          (RetrievalModel)
              config(Matching.of("item", "category", "price"))
                  .create(SCHEMA, new Parameters(device, 9));
      float[] x = random(random, B * 3);
      float[] e = random(random, B * 4 * D);
      Features one = features(x, e);
      for (int b = 0; b < B; b++) {
        x[b * 3 + 1] += 1;
        e[b * 4 * D + 2] += 1;
        e[b * 4 * D + 5] += 1;
      }
      Features otherItems = features(x, e);
      assertThat(model.users(otherItems).toArray()).isEqualTo(model.users(one).toArray());
      assertThat(model.items(otherItems).toArray()).isNotEqualTo(model.items(one).toArray());
      for (int b = 0; b < B; b++) {
        x[b * 3] += 1;
        e[b * 4 * D + 6] += 1;
      }
      Features otherUsers = features(x, e);
      assertThat(model.items(otherUsers).toArray()).isEqualTo(model.items(otherItems).toArray());
      assertThat(model.users(otherUsers).toArray()).isNotEqualTo(model.users(one).toArray());
      assertThat(model.itemSlot()).contains("item");
      assertThat(model.vectorWidth()).isEqualTo(3);
    }
  }

  @Test
  void columnsOfItemsAreNamedOnceAndLeaveSomeForUsers() {
    List<Matching> wrong =
        List.of(
            Matching.DEFAULT,
            Matching.of("item", "colour"),
            Matching.of("item", "item"),
            Matching.of("item", "category", "price", "user", "city", "age", "hour"));
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 9);
      for (Matching matching : wrong) {
        assertThatThrownBy(() -> config(matching).create(SCHEMA, parameters))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("as the columns of items, expected distinct ones of");
      }
      assertThatThrownBy(() -> Matching.of("item").withTemperature(0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the temperature 0.0, expected a number above 0");
      assertThatThrownBy(() -> ModelConfig.of(ModelConfig.Type.TWOTOWER, D))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got hidden layers 0, expected one or more; the last gives");
    }
  }
}
