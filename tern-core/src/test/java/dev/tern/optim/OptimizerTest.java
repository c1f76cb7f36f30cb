package dev.tern.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.optim.Optimizer.Adam.Untouched;
import org.junit.jupiter.api.Test;

final class OptimizerTest {
  @Test
  void factoriesHoldTheUsualDefaults() {
    assertThat(Optimizer.adam(0.001f))
        .isEqualTo(new Optimizer.Adam(0.001f, 0.9f, 0.999f, 1e-8f, Untouched.UPDATED));
    assertThat(Optimizer.lazyAdam(0.001f))
        .isEqualTo(new Optimizer.Adam(0.001f, 0.9f, 0.999f, 1e-8f, Untouched.KEPT));
    assertThat(Optimizer.adagrad(0.01f)).isEqualTo(new Optimizer.Adagrad(0.01f, 0, 1e-7f));
    assertThat(Optimizer.rmsProp(0.01f)).isEqualTo(new Optimizer.RmsProp(0.01f, 0.99f, 1e-8f));
    assertThat(Optimizer.ftrl(0.1f)).isEqualTo(new Optimizer.Ftrl(0.1f, 1, 0, 0));
    assertThat(Optimizer.momentum(0.1f).lr()).isEqualTo(0.1f);
  }

  @Test
  void wrongConstantsAreRefusedByName() {
    assertThatThrownBy(() -> Optimizer.sgd(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("optimizer: got lr -1.0, expected a finite number of 0 or more");
    assertThatThrownBy(() -> Optimizer.sgd(Float.NaN)).hasMessageContaining("lr NaN");
    assertThatThrownBy(() -> new Optimizer.Momentum(1, 1)).hasMessageContaining("momentum 1.0");
    assertThatThrownBy(() -> new Optimizer.Adam(1, 0.9f, 1, 1e-8f, Untouched.KEPT))
        .hasMessageContaining("beta2 1.0");
    assertThatThrownBy(() -> new Optimizer.Adagrad(1, 0, 0)).hasMessageContaining("eps 0.0");
    assertThatThrownBy(() -> new Optimizer.RmsProp(1, -0.1f, 1)).hasMessageContaining("rho -0.1");
    assertThatThrownBy(() -> Optimizer.ftrl(0)).hasMessageContaining("lr 0.0");
  }
}
