package dev.tern.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Layers beside their equations, written out for two or three numbers. */
final class LayersTest {
  private final Device device = Device.cpu(1, 1L << 24);
  private final Parameters parameters = new Parameters(device, 5);

  @AfterEach
  void close() {
    device.close();
  }

  private void set(String name, float... values) {
    parameters.all().stream()
        .filter(parameter -> parameter.name().equals(name))
        .findFirst()
        .orElseThrow()
        .set(values);
  }

  @Test
  void namesWithTheSameHashStartWithOtherValues() {
    assertThat("Aa.weight").hasSameHashCodeAs("BB.weight");
    Shape shape = Shape.of(8);
    float[] first = parameters.uniform("Aa.weight", shape, 1).toArray();
    float[] second = parameters.uniform("BB.weight", shape, 1).toArray();
    float[] third = parameters.uniform("AaBB.weight", shape, 1).toArray();
    assertThat(second).doesNotContain(first);
    Parameters again = new Parameters(device, 5);
    assertThat(again.uniform("AaBB.weight", shape, 1).toArray()).as("alone").isEqualTo(third);
    assertThat(again.uniform("Aa.weight", shape, 1).toArray()).as("first").isEqualTo(first);
    assertThat(again.uniform("BB.weight", shape, 1).toArray()).as("again").isEqualTo(second);
  }

  @Test
  void linearIsAMatrixProductPlusBias() {
    Linear linear = new Linear(parameters, "l", 2, 3);
    set("l.weight", 1, 2, 3, 4, 5, 6);
    set("l.bias", 10, 20, 30);
    assertThat(linear.apply(Tensor.of(Shape.of(2, 2), 1, 0, 2, -1)).toArray())
        .containsExactly(11, 22, 33, 8, 19, 30);
  }

  @Test
  void linearOfNoInputsGivesItsBias() {
    Linear linear = new Linear(parameters, "l", 0, 2);
    set("l.bias", 10, 20);
    assertThat(linear.apply(Tensor.zeros(Shape.of(2, 0))).toArray())
        .containsExactly(10, 20, 10, 20);
  }

  @Test
  void mlpCutsNegativesOfEveryLayer() {
    Mlp mlp = new Mlp(parameters, "m", 1, List.of(2, 1), Mlp.Style.relu(0));
    set("m.0.weight", 1, -1);
    set("m.0.bias", 0, 0.5f);
    set("m.1.weight", 1, 2);
    set("m.1.bias", -1);
    // x = 2: hidden (2, 0), out 1. x = -1: hidden (0, 1.5), out 2. x = 0: hidden (0, 0.5), out 0.
    assertThat(mlp.apply(Tensor.of(Shape.of(3, 1), 2, -1, 0), Pass.scoring()).toArray())
        .containsExactly(1, 2, 0);
    assertThat(mlp.outputs()).isEqualTo(1);
  }

  @Test
  void mlpWithoutLayersGivesItsInput() {
    Mlp mlp = new Mlp(parameters, "m", 2, List.of(), Mlp.Style.relu(0.5f));
    assertThat(mlp.apply(Tensor.of(Shape.of(1, 2), 3, -4), Pass.scoring()).toArray())
        .containsExactly(3, -4);
    assertThat(mlp.outputs()).isEqualTo(2);
  }

  @Test
  void crossOfVectorsFollowsItsEquation() {
    CrossNetwork cross = CrossNetwork.vectors(parameters, "c", 2, 2);
    set("c.0.weight", 1, -1);
    set("c.0.bias", 0.5f, 0);
    set("c.1.weight", 2, 1);
    set("c.1.bias", 0, 1);
    // x = (3, 1): x.w = 2, so c1 = 2 x + b + x = (9.5, 3); c1.w = 22, c2 = 22 x + b + c1.
    assertThat(cross.apply(Tensor.of(Shape.of(1, 2), 3, 1)).toArray()).containsExactly(75.5f, 26);
  }

  @Test
  void crossOfMatricesFollowsItsEquation() {
    CrossNetwork cross = CrossNetwork.matrices(parameters, "c", 2, 2);
    set("c.0.weight", 1, 0, 2, -1);
    set("c.0.bias", 1, 2);
    set("c.1.weight", 0, 1, 1, 0);
    set("c.1.bias", 0, -1);
    // x = (3, 1): x W + b = (6, 1), c1 = (18 + 3, 1 + 1); c1 W + b = (2, 20), c2 = (6 + 21, 20 +
    // 2).
    assertThat(cross.apply(Tensor.of(Shape.of(1, 2), 3, 1)).toArray()).containsExactly(27, 22);
  }

  @Test
  void crossWithoutLayersGivesItsInput() {
    CrossNetwork cross = CrossNetwork.matrices(parameters, "c", 2, 0);
    assertThat(cross.apply(Tensor.of(Shape.of(1, 2), 3, 1)).toArray()).containsExactly(3, 1);
  }

  @Test
  void factorizationMachineSumsTheDotProductsOfAllPairs() {
    Tensor vectors = Tensor.of(Shape.of(2, 3, 2), 1, 2, 3, 4, 5, 6, 1, 0, 0, 1, -1, 2);
    // First row: (1,2)(3,4) = 11, (1,2)(5,6) = 17, (3,4)(5,6) = 39; second: 0 - 1 + 2.
    assertThat(vectors.pairSums().toArray()).containsExactly(67, 1);
  }

  @Test
  void factorizationMachineOfOneVectorIsZero() {
    Tensor vectors = Tensor.of(Shape.of(1, 1, 3), 1, 2, 3);
    assertThat(vectors.pairSums().toArray()).containsExactly(0);
  }

  private Variable seed(long value) {
    Variable seed = Variable.of(device, "seed", Shape.of(1), DType.I64);
    seed.setLong(value);
    return seed;
  }

  @Test
  void dropoutKeepsTheMeanAndDropsItsShare() {
    int count = 100_000;
    float rate = 0.3f;
    Tensor ones = Tensor.full(Shape.of(count / 100, 100), 1);
    float[] dropped = Pass.training(seed(11)).dropout(ones, rate).toArray();
    int zeros = 0;
    double sum = 0;
    for (float value : dropped) {
      assertThat(value == 0 || value == 1 / (1 - rate)).isTrue();
      zeros += value == 0 ? 1 : 0;
      sum += value;
    }
    // Six standard deviations of a share of 100,000 draws are 0.0087.
    assertThat(zeros / (double) count).isCloseTo(rate, within(0.0087));
    assertThat(sum / count).isCloseTo(1, within(0.0125));
  }

  @Test
  void dropoutIsTheSameForOneSeedAndDiffersByLayerAndBySeed() {
    Tensor ones = Tensor.full(Shape.of(64), 1);
    Variable seed = seed(11);
    Pass pass = Pass.training(seed);
    float[] first = pass.dropout(ones, 0.5f).toArray();
    assertThat(pass.dropout(ones, 0.5f).toArray()).isNotEqualTo(first);
    assertThat(Pass.training(seed).dropout(ones, 0.5f).toArray()).isEqualTo(first);
    assertThat(Pass.training(seed(12)).dropout(ones, 0.5f).toArray()).isNotEqualTo(first);
  }

  @Test
  void dropoutIsOffWhenScoringAndAtRateZero() {
    Tensor x = Tensor.full(Shape.of(4), 2);
    assertThat(Pass.scoring().dropout(x, 0.9f)).isSameAs(x);
    assertThat(Pass.training(seed(1)).dropout(x, 0)).isSameAs(x);
  }

  @Test
  void dropoutOfEverythingIsRefused() {
    Tensor x = Tensor.full(Shape.of(4), 2);
    assertThatThrownBy(() -> Pass.scoring().dropout(x, 1)).hasMessageContaining("below 1");
    assertThatThrownBy(() -> Pass.scoring().dropout(x, Float.NaN)).hasMessageContaining("NaN");
  }

  @Test
  void initialValuesDependOnSeedAndNameAloneAndFillTheirRange() {
    float[] first = parameters.uniform("a", Shape.of(1000), 0.5f).toArray();
    parameters.uniform("b", Shape.of(3), 0.5f);
    Parameters again = new Parameters(device, 5);
    again.uniform("b", Shape.of(7), 0.1f);
    assertThat(again.uniform("a", Shape.of(1000), 0.5f).toArray()).isEqualTo(first);
    assertThat(new Parameters(device, 6).uniform("a", Shape.of(1000), 0.5f).toArray())
        .isNotEqualTo(first);
    float least = 1;
    float most = -1;
    for (float value : first) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    assertThat(least).isBetween(-0.5f, -0.48f);
    assertThat(most).isBetween(0.48f, 0.5f);
  }

  @Test
  void aNameGivenTwiceIsRefused() {
    parameters.full("a", Shape.of(1), 0);
    assertThatThrownBy(() -> parameters.uniform("a", Shape.of(2), 1))
        .hasMessage("parameter: got the name a twice, expected distinct names");
  }
}
