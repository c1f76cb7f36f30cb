package dev.tern.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AxisTest {
  @ParameterizedTest
  @CsvSource({
    "0, 1",
    "0.4412, 0.6931",
    "0.79, 0.7905",
    "0, 92345.6",
    "5, 5",
    "0, 0",
    "-3, 8",
    "1e-9, 2e-9",
    "0, 1e12",
    "0.7, 0.7"
  })
  void theAxisHoldsItsValuesBetweenFewTicks(double low, double high) {
    Axis axis = Axis.around(low, high, 5);
    assertThat(axis.min()).isLessThanOrEqualTo(low + 1e-12);
    assertThat(axis.max()).isGreaterThanOrEqualTo(high - 1e-12);
    assertThat(axis.ticks()).hasSizeBetween(2, 8);
    assertThat(axis.ticks().stream().map(axis::label)).doesNotHaveDuplicates();
    assertThat(axis.at(axis.ticks().getFirst())).isBetween(-1e-6, 1e-6);
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "0, 7", "0, 1464", "10, 16", "0, 2000000", "5, 5"})
  void stepsHaveWholeTicksInside(long low, long high) {
    Axis axis = Axis.whole(low, high, 5);
    assertThat(axis.ticks())
        .isNotEmpty()
        .allMatch(
            tick -> tick == Math.rint(tick) && tick >= low && tick <= Math.max(high, low + 1));
    assertThat(axis.ticks().stream().map(axis::label)).doesNotHaveDuplicates();
  }

  @Test
  void labelsHaveTheDecimalsTheStepNeeds() {
    Axis axis = Axis.around(0.44, 0.46, 4);
    assertThat(axis.ticks().stream().map(axis::label)).contains("0.440", "0.445", "0.460");
    assertThat(Axis.around(0, 100_000, 4).ticks().stream().map(Axis.around(0, 100_000, 4)::label))
        .containsExactly("0", "25k", "50k", "75k", "100k");
  }
}
