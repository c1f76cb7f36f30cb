package dev.tern.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Losses against their equations, and their gradients against finite differences. */
final class LossTest {
  static Stream<Loss> losses() {
    return Stream.of(
        Loss.BINARY_CROSS_ENTROPY,
        Loss.SOFT_CROSS_ENTROPY,
        Loss.SQUARED_ERROR,
        Loss.ABSOLUTE_ERROR,
        new Loss.Huber(1),
        new Loss.Huber(0.3f),
        Loss.POISSON,
        new Loss.Focal(2, 0.25f),
        new Loss.Focal(0, 0.5f),
        new Loss.Focal(0.7f, 0.8f),
        new Loss.OfClass(1, 3));
  }

  /** A label that the loss accepts. */
  private static float label(Loss loss, SplittableRandom random) {
    return switch (loss) {
      case Loss.BinaryCrossEntropy(boolean soft) ->
          soft ? (float) random.nextDouble() : random.nextInt(2);
      case Loss.Focal _, Loss.OfClass _ -> random.nextInt(2);
      case Loss.Poisson _ -> random.nextInt(6);
      default -> (float) (4 * random.nextDouble() - 2);
    };
  }

  @ParameterizedTest
  @MethodSource("losses")
  void valuesAreThoseOfTheEquationAndGradientsOfFiniteDifferences(Loss loss) {
    SplittableRandom random = new SplittableRandom(7);
    int count = 200;
    float[] x = new float[count];
    float[] y = new float[count];
    for (int i = 0; i < count; i++) {
      y[i] = label(loss, random);
      x[i] = (float) (8 * random.nextDouble() - 4);
    }
    Tensor logits = Tensor.of(Shape.of(count), x);
    Tensor each = loss.of(logits, Tensor.of(Shape.of(count), y));
    float[] values = each.toArray();
    float[] gradients = Tensor.gradients(each.sum(), List.of(logits)).getFirst().toArray();
    double step = 1e-5;
    for (int i = 0; i < count; i++) {
      double expected = loss.value(x[i], y[i]);
      assertThat((double) values[i])
          .as("%s of %s", x[i], y[i])
          .isCloseTo(expected, within(4e-6 * (1 + Math.abs(expected))));
      double slope = (loss.value(x[i] + step, y[i]) - loss.value(x[i] - step, y[i])) / (2 * step);
      assertThat((double) gradients[i])
          .as("gradient at %s of %s", x[i], y[i])
          .isCloseTo(slope, within(1e-4 * (1 + Math.abs(slope))));
    }
  }

  @Test
  void theExamplesOfTheDocumentationHold() {
    assertThat(Loss.BINARY_CROSS_ENTROPY.value(0, 1)).isCloseTo(0.693, within(5e-4));
    assertThat(Loss.SOFT_CROSS_ENTROPY.value(2, 0.25)).isCloseTo(1.627, within(5e-4));
    assertThat(Loss.SQUARED_ERROR.value(3, 1)).isEqualTo(4);
    assertThat(Loss.ABSOLUTE_ERROR.value(3, 1)).isEqualTo(2);
    assertThat(new Loss.Huber(1).value(0.5, 0)).isEqualTo(0.125);
    assertThat(new Loss.Huber(1).value(0, 3)).isEqualTo(2.5);
    assertThat(Loss.POISSON.value(Math.log(3), 2)).isCloseTo(0.803, within(5e-4));
    assertThat(new Loss.Focal(2, 0.25f).value(0, 1)).isCloseTo(0.0433, within(5e-5));
  }

  @Test
  void focalLossWithoutFocusIsHalfOfCrossEntropy() {
    Loss focal = new Loss.Focal(0, 0.5f);
    for (float y = 0; y < 2; y++) {
      assertThat(focal.value(1.3, y))
          .isCloseTo(Loss.BINARY_CROSS_ENTROPY.value(1.3, y) / 2, within(1e-12));
    }
  }

  @ParameterizedTest
  @MethodSource("losses")
  void farLogitsAreFinite(Loss loss) {
    float[] x = {-80, 80, -80, 80};
    Tensor logits = Tensor.of(Shape.of(4), x);
    Tensor each = loss.of(logits, Tensor.of(Shape.of(4), 0, 0, 1, 1));
    for (float value : each.toArray()) {
      assertThat(value).isFinite();
    }
    for (float value : Tensor.gradients(each.sum(), List.of(logits)).getFirst().toArray()) {
      assertThat(value).isFinite();
    }
  }

  @Test
  void predictionsAreProbabilitiesValuesOrCounts() {
    assertThat(Loss.BINARY_CROSS_ENTROPY.predicted(0)).isEqualTo(0.5f);
    assertThat(new Loss.Focal(2, 0.25f).predicted(0)).isEqualTo(0.5f);
    assertThat(Loss.SQUARED_ERROR.predicted(-3)).isEqualTo(-3);
    assertThat(Loss.ABSOLUTE_ERROR.predicted(7)).isEqualTo(7);
    assertThat(new Loss.Huber(1).predicted(7)).isEqualTo(7);
    assertThat(Loss.POISSON.predicted(0)).isEqualTo(1);
  }

  @Test
  void labelsAreThoseOfTheLoss() {
    assertThat(Loss.BINARY_CROSS_ENTROPY.accepts(0.5f)).isFalse();
    assertThat(Loss.SOFT_CROSS_ENTROPY.accepts(0.5f)).isTrue();
    assertThat(Loss.SOFT_CROSS_ENTROPY.accepts(1.01f)).isFalse();
    assertThat(Loss.POISSON.accepts(-1)).isFalse();
    assertThat(Loss.SQUARED_ERROR.accepts(-1)).isTrue();
    losses()
        .forEach(loss -> {
          assertThat(loss.accepts(Float.NaN)).as("%s", loss).isFalse();
          assertThat(loss.accepts(Float.POSITIVE_INFINITY)).as("%s", loss).isFalse();
        });
  }

  @Test
  void sizesOutOfRangeAreRefused() {
    assertThatThrownBy(() -> new Loss.Huber(0)).hasMessageContaining("got the delta 0.0");
    assertThatThrownBy(() -> new Loss.Focal(-1, 0.5f)).hasMessageContaining("got the gamma -1.0");
    assertThatThrownBy(() -> new Loss.Focal(1, 1)).hasMessageContaining("got the alpha 1.0");
    assertThatThrownBy(() -> new Loss.Focal(1, Float.NaN)).hasMessageContaining("alpha NaN");
    assertThatThrownBy(() -> Task.of("y").withPositiveWeight(2).withLoss(Loss.POISSON))
        .hasMessageContaining("task y: got the loss poisson with a weight of positive rows");
    assertThatThrownBy(() -> Task.of("y").withLoss(Loss.SOFT_CROSS_ENTROPY).withNegativeRate(0.5f))
        .hasMessageContaining("the loss soft-bce");
  }

  @ParameterizedTest
  @MethodSource("losses")
  void theLossAndItsGradientAreFewSteps(Loss loss) {
    try (Device device = Device.cpu(1, 1L << 24);
        Variable logits = Variable.zeros(device, "logits", Shape.of(64));
        Variable labels = Variable.zeros(device, "labels", Shape.of(64))) {
      Tensor sum = loss.of(logits.tensor(), labels.tensor()).mean();
      Tensor gradient = Tensor.gradients(sum, List.of(logits.tensor())).getFirst();
      try (Computation step = Computation.of(device, List.of(sum, gradient), Map.of())) {
        step.run();
        // A kernel for the sum and the gradient, two for focal loss, and one to scale the sum.
        int most = loss instanceof Loss.Focal ? 3 : 2;
        assertThat(step.times()).as("%s", loss).hasSizeLessThanOrEqualTo(most);
      }
    }
  }
}
