package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.optim.Optimizer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class OptimizerJsonTest {
  @ParameterizedTest
  @MethodSource("dev.tern.train.DenseOptimizerTest#rules")
  void everyRuleIsReadBackFromItsJson(Optimizer rule) {
    assertThat(OptimizerJson.read(OptimizerJson.write(rule))).isEqualTo(rule);
  }
}
