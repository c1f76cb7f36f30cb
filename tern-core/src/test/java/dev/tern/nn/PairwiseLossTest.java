package dev.tern.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The loss of pairs of rows beside its formula in plain Java. */
final class PairwiseLossTest {
  private record Rows(float[] scores, float[] labels, float[] groups, float[] shares) {
    static Rows random(int rows, int groups, Random random) {
      Rows made = new Rows(new float[rows], new float[rows], new float[rows], new float[rows]);
      for (int i = 0; i < rows; i++) {
        made.scores[i] = (float) (3 * random.nextGaussian());
        made.labels[i] = random.nextInt(2);
        made.groups[i] = random.nextInt(groups);
        made.shares[i] = random.nextInt(4) == 0 ? 0 : random.nextFloat();
      }
      return made;
    }

    Tensor tensor(float[] values) {
      return Tensor.of(Shape.of(values.length), values);
    }

    Tensor loss(Tensor of) {
      return PairwiseLoss.loss(of, tensor(labels), tensor(groups), tensor(shares));
    }

    double plain() {
      double sum = 0;
      for (int i = 0; i < scores.length; i++) {
        for (int j = 0; j < scores.length; j++) {
          if (groups[i] == groups[j] && labels[i] == 1 && labels[j] == 0) {
            double ahead = (double) scores[j] - scores[i];
            sum += (double) shares[i] * shares[j] * Math.log1p(Math.exp(ahead));
          }
        }
      }
      return sum;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 8, 9, 15, 16, 17, 33, 64, 100})
  void theLossFollowsItsFormula(int rows) {
    Random random = new Random(rows);
    for (int groups : new int[] {1, 3, 1000}) {
      Rows of = Rows.random(rows, groups, random);
      assertThat((double) of.loss(of.tensor(of.scores)).item())
          .isCloseTo(of.plain(), within(2e-5 * (1 + of.plain())));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 9, 17, 40})
  void gradientsAgreeWithFiniteDifferences(int rows) {
    Rows of = Rows.random(rows, 3, new Random(rows));
    Tensor scores = of.tensor(of.scores);
    float[] gradient = Tensor.gradients(of.loss(scores), List.of(scores)).getFirst().toArray();
    for (int i = 0; i < rows; i++) {
      float before = of.scores[i];
      of.scores[i] = before + 1e-2f;
      double more = of.plain();
      float above = of.scores[i];
      of.scores[i] = before - 1e-2f;
      double less = of.plain();
      double slope = (more - less) / (above - of.scores[i]);
      of.scores[i] = before;
      assertThat((double) gradient[i]).isCloseTo(slope, within(1e-4 * (1 + Math.abs(slope))));
    }
  }

  @Test
  void theExampleOfTheDocumentationHolds() {
    Shape three = Shape.of(3);
    float share = (float) PairwiseLoss.share(2, 1);
    float loss =
        PairwiseLoss.loss(
                Tensor.of(three, 2, 1, 0),
                Tensor.of(three, 1, 0, 0),
                Tensor.of(three, 5, 5, 5),
                Tensor.of(three, share, share, share))
            .item();
    assertThat(loss).isCloseTo(0.220f, within(5e-4f));
  }

  @Test
  void rowsWithoutAPairHaveNoLossAndNoGradient() {
    Shape four = Shape.of(4);
    Tensor scores = Tensor.of(four, 2, -1, 0, 3);
    Tensor loss =
        PairwiseLoss.loss(
            scores,
            Tensor.of(four, 1, 1, 0, 0),
            Tensor.of(four, 1, 1, 2, 2),
            Tensor.of(four, 1, 1, 1, 1));
    assertThat(loss.item()).isZero();
    for (float gradient : Tensor.gradients(loss, List.of(scores)).getFirst().toArray()) {
      assertThat(gradient).isZero();
    }
  }

  @Test
  void scoresFarApartAreFinite() {
    Shape two = Shape.of(2);
    Tensor scores = Tensor.of(two, -1e30f, 1e30f);
    Tensor loss =
        PairwiseLoss.loss(scores, Tensor.of(two, 1, 0), Tensor.of(two, 0, 0), Tensor.of(two, 1, 1));
    assertThat(loss.item()).isEqualTo(2e30f);
    assertThat(Tensor.gradients(loss, List.of(scores)).getFirst().toArray()).containsExactly(-1, 1);
  }

  @Test
  void aLargeGroupTakesMemoryOfItsRowsAlone() {
    int rows = 4096;
    try (Device device = Device.cpu(1, 1L << 24)) {
      List<Variable> inputs =
          List.of("scores", "labels", "groups", "shares").stream()
              .map(name -> Variable.zeros(device, name, Shape.of(rows)))
              .toList();
      List<Tensor> x = inputs.stream().map(Variable::tensor).toList();
      Tensor loss = PairwiseLoss.loss(x.get(0), x.get(1), x.get(2), x.get(3));
      Tensor gradient = Tensor.gradients(loss, List.of(x.getFirst())).getFirst();
      try (Computation step = Computation.of(device, List.of(loss, gradient), Map.of())) {
        assertThat(step.memory()).isLessThan(16L * 4 * rows);
      }
      inputs.forEach(Variable::close);
    }
  }
}
