package dev.tern.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

final class SpreadTest {
  @Test
  void theExamplesOfItsDocumentationHold() {
    Spread mean = Spread.of(new double[] {1, 2, 3});
    assertThat(mean.mean()).isEqualTo(2);
    assertThat(mean.interval(2)).isEqualTo("-0.48 to 4.48");
    assertThat(Spread.ofRate(3, 10).interval(3)).isEqualTo("0.108 to 0.603");
  }

  @Test
  void anIntervalOfManyValuesIsThatOfTheNormalDistribution() {
    double[] values = new double[1000];
    double sum = 0;
    double squares = 0;
    Random random = new Random(1);
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextGaussian();
      sum += values[i];
      squares += values[i] * values[i];
    }
    Spread small = Spread.of(values);
    Spread sums = Spread.ofSums(sum, squares, values.length);
    assertThat(small.low()).isCloseTo(sums.low(), within(2e-4)).isLessThan(small.mean());
    assertThat(small.high()).isCloseTo(sums.high(), within(2e-4));
  }

  @Test
  void theTableOfStudentGoesOverIntoTheExpansion() {
    double[] thirty = new double[31];
    double[] more = new double[32];
    for (int i = 0; i < 32; i++) {
      more[i] = i % 2;
      thirty[i % 31] = i % 2;
    }
    double before = Spread.of(thirty).high() - Spread.of(thirty).mean();
    double after = Spread.of(more).high() - Spread.of(more).mean();
    assertThat(after / before).isCloseTo(Math.sqrt(30.0 / 31), within(0.01));
  }

  @Test
  void aRateOfNothingOrAllStaysWithinItsBounds() {
    assertThat(Spread.ofRate(0, 5).low()).isZero();
    assertThat(Spread.ofRate(5, 5).high()).isEqualTo(1);
    assertThat(Spread.ofRate(0, 0).mean()).isNaN();
  }
}
