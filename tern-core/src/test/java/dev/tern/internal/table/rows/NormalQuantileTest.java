package dev.tern.internal.table.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

final class NormalQuantileTest {
  private static final int ALL = 1 << 24;

  private static int bits(double p) {
    return (int) Math.round(p * ALL - 0.5);
  }

  @Test
  void itIsTheQuantileOfTablesOfTheDistribution() {
    double[][] known = {
      {0.5, 0},
      {0.6, 0.2533471031},
      {0.75, 0.6744897502},
      {0.9, 1.2815515655},
      {0.925, 1.4395314709},
      {0.975, 1.9599639845},
      {0.99, 2.3263478740},
      {0.999, 3.0902323062},
      {0.9999, 3.7190164855}
    };
    for (double[] quantile : known) {
      // p is rounded to a multiple of 2^-24, which moves far quantiles most.
      float tolerance = (float) (2e-7 + 6e-8 / Math.exp(-quantile[1] * quantile[1] / 2));
      assertThat(NormalQuantile.of(bits(quantile[0])))
          .isCloseTo((float) quantile[1], within(tolerance));
    }
  }

  @Test
  void itIsSymmetricAndAscendsAndItsEndsAreFinite() {
    for (int bits = 0; bits < ALL / 2; bits += 997) {
      assertThat(NormalQuantile.of(ALL - 1 - bits)).isEqualTo(-NormalQuantile.of(bits));
      assertThat(NormalQuantile.of(bits)).isLessThan(NormalQuantile.of(bits + 997));
    }
    // At the seam between the two formulas, 0.5 + 0.425.
    int seam = bits(0.925);
    for (int bits = seam - 50; bits < seam + 50; bits++) {
      assertThat(NormalQuantile.of(bits)).isLessThanOrEqualTo(NormalQuantile.of(bits + 1));
    }
    assertThat(NormalQuantile.of(ALL - 1)).isCloseTo(5.4200f, within(0.001f));
  }
}
