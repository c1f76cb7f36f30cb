package dev.tern.model.sequences;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.Tensor;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class NextElementTest {
  private static final float[] ELEMENTS = {1, 2, 3, 4, 5};
  private static final float[] STATES = {0.1f, -0.2f, 0.3f, 0.4f, -0.5f};

  private static double loss(int... offsets) {
    int rows = ELEMENTS.length + 1; // The last one is spare.
    Tensor of = Tensor.ofInts(Shape.of(offsets.length), offsets);
    Ragged elements = Ragged.of(Tensor.of(Shape.of(rows, 1), with(ELEMENTS)), of);
    return NextElement.loss(elements.with(Tensor.of(Shape.of(rows, 1), with(STATES))), elements)
        .toArray()[0];
  }

  private static float[] with(float[] values) {
    float[] all = Arrays.copyOf(values, values.length + 1);
    all[values.length] = Float.NaN;
    return all;
  }

  private static double softplus(double x) {
    return Math.log1p(Math.exp(x));
  }

  @Test
  void theOtherElementIsAsFarFromTheEnd() {
    double first = softplus(-0.1 * 2) + softplus(0.1 * 3);
    double third = softplus(-0.3 * 4) + softplus(0.3 * 1);
    assertThat(loss(0, 2, 4)).isCloseTo((first + third) / 2, within(1e-6));
  }

  @Test
  void anElementInTheMiddleIsNotToldFromItself() {
    double first = softplus(-0.1 * 2) + softplus(0.1 * 4);
    double second = softplus(0.2 * 3);
    double fourth = softplus(-0.4 * 5) + softplus(0.4 * 1);
    assertThat(loss(0, 3, 5)).isCloseTo(((first + second) / 2 + fourth) / 2, within(1e-6));
  }

  @Test
  void rowsWithoutAFollowingElementCountAsNone() {
    assertThat(loss(0, 0, 1)).isZero();
  }
}
