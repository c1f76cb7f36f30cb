package dev.tern.model.papers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import org.junit.jupiter.api.Test;

final class EntireSpaceTest {
  @Test
  void theProductOfTwoProbabilitiesKeepsItsLogitWhereBothAreExtreme() {
    float[] extremes = {-90, -40, 0, 40, 90};
    for (float a : extremes) {
      for (float b : extremes) {
        Tensor u = Tensor.of(Shape.of(1), -a);
        float got = EntireSpace.both(u, Tensor.of(Shape.of(1), -b)).item();
        double most = Math.max(Math.max(-a, -b), -a - b);
        double sum = Math.exp(-a - most) + Math.exp(-b - most) + Math.exp(-a - b - most);
        assertThat((double) got).isCloseTo(-most - Math.log(sum), within(1e-4));
      }
    }
  }
}
