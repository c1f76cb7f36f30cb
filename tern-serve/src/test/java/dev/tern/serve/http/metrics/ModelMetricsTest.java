package dev.tern.serve.http.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ModelMetricsTest {
  @Test
  void timesAreCountedBelowTheirBounds() {
    Histogram histogram = new Histogram();
    histogram.add(50_000);
    histogram.add(50_001);
    histogram.add(2_000_000_000);
    Exposition page = new Exposition();
    histogram.write(page, "t", "a=\"b\"");
    String text = new String(page.bytes());
    assertThat(text)
        .contains("t_bucket{a=\"b\",le=\"5e-05\"} 1\n")
        .contains("t_bucket{a=\"b\",le=\"0.0001\"} 2\n")
        .contains("t_bucket{a=\"b\",le=\"1\"} 2\n")
        .contains("t_bucket{a=\"b\",le=\"+Inf\"} 3\n")
        .contains("t_count{a=\"b\"} 3\n");
  }

  @Test
  void predictionsAreAddedUpWithoutThoseThatAreNoNumbers() {
    ModelMetrics metrics = new ModelMetrics("m");
    metrics.scored(2, 2, new float[] {0.25f, 9, Float.NaN, 9}, 1_000);
    metrics.scored(1, 1, new float[] {0.5f, 7}, 1_000);
    Exposition page = new Exposition();
    metrics.writeRows(page, "rows");
    metrics.writePredictions(page, "sum", true);
    metrics.writePredictions(page, "count", false);
    assertThat(new String(page.bytes()))
        .isEqualTo("rows{model=\"m\"} 3\nsum{model=\"m\"} 0.75\ncount{model=\"m\"} 2\n");
  }
}
