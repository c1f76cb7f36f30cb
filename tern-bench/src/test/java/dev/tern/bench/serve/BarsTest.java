package dev.tern.bench.serve;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class BarsTest {
  @Test
  void aFigureBeyondItsBarAndOneThatIsNoNumberAreMissed() {
    Bars bars = new Bars(true);
    bars.most("most", 1, 1, "s");
    bars.least("least", 1, 1, "s");
    assertThat(bars.missed()).isZero();
    bars.most("most", 1.001, 1, "s");
    bars.least("least", 0.999, 1, "s");
    bars.most("most", Double.NaN, 1, "s");
    bars.least("least", Double.NaN, 1, "s");
    bars.most("most", Double.POSITIVE_INFINITY, 1, "s");
    assertThat(bars.missed()).isEqualTo(5);
  }
}
