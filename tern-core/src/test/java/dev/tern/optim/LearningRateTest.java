package dev.tern.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class LearningRateTest {
  @Test
  void constantRateIsTheSameInEveryStep() {
    LearningRate rate = LearningRate.constant(0.25f);
    assertThat(rate.at(1)).isEqualTo(0.25f);
    assertThat(rate.at(Long.MAX_VALUE)).isEqualTo(0.25f);
  }

  @Test
  void warmupRisesLinearlyToTheBaseAndStays() {
    LearningRate rate = LearningRate.warmup(0.8f, 4);
    assertThat(rate.at(1)).isEqualTo(0.2f);
    assertThat(rate.at(2)).isEqualTo(0.4f);
    assertThat(rate.at(4)).isEqualTo(0.8f);
    assertThat(rate.at(1_000_000)).isEqualTo(0.8f);
  }

  @Test
  void oneWarmupStepIsNoWarmup() {
    assertThat(LearningRate.warmup(0.8f, 1).at(1)).isEqualTo(0.8f);
  }

  @Test
  void decayFollowsThePolynomialFromItsStart() {
    LearningRate rate = LearningRate.warmupDecay(1, 2, 10, 4);
    assertThat(rate.at(1)).isEqualTo(0.5f);
    assertThat(rate.at(10)).isEqualTo(1);
    assertThat(rate.at(11)).isEqualTo(0.75f * 0.75f);
    assertThat(rate.at(12)).isEqualTo(0.25f);
    assertThat(rate.at(13)).isEqualTo(0.0625f);
    assertThat(rate.at(14)).isZero();
    assertThat(rate.at(15)).isZero();
  }

  @Test
  void decayNeverFallsBelowItsEnd() {
    LearningRate rate = new LearningRate.WarmupDecay(1, 1, 10, 4, 1, 0.3f);
    assertThat(rate.at(12)).isEqualTo(0.5f);
    assertThat(rate.at(13)).isEqualTo(0.3f);
    assertThat(rate.at(14)).isEqualTo(0.3f);
    assertThat(rate.at(Long.MAX_VALUE)).isEqualTo(0.3f);
  }

  @Test
  void wrongConstantsAreRefusedByName() {
    assertThatThrownBy(() -> LearningRate.constant(Float.NaN)).hasMessageContaining("lr NaN");
    assertThatThrownBy(() -> LearningRate.warmup(1, 0)).hasMessageContaining("warmupSteps 0");
    assertThatThrownBy(() -> LearningRate.warmupDecay(1, 1, -1, 1))
        .hasMessageContaining("decayStart -1");
    assertThatThrownBy(() -> LearningRate.constant(1).at(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("step 0");
  }
}
