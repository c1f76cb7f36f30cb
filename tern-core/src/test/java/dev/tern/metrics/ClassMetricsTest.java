package dev.tern.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.model.Task;
import dev.tern.model.TaskLabels;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class ClassMetricsTest {
  private static float odds(double probability) {
    return (float) Math.log(probability / (1 - probability));
  }

  @Test
  void theExampleOfTheDocumentationHolds() {
    ClassMetrics metrics = new ClassMetrics(3);
    metrics.add(new float[] {odds(0.5), odds(0.3), odds(0.2)}, 0, 0, 1);
    metrics.add(new float[] {9, odds(0.7), odds(0.25), odds(0.05)}, 1, 1, 1);
    ClassMetrics.Result result = metrics.result("kind");
    assertThat(result.logLoss()).isCloseTo(1.040, within(5e-4));
    assertThat(result.accuracy()).isEqualTo(0.5);
    assertThat(result.rows()).isEqualTo(2);
  }

  @Test
  void aWeightedRowCountsAsSoManyRowsAndOfEqualScoresTheFirstClassIsTold() {
    ClassMetrics weighted = new ClassMetrics(2);
    ClassMetrics repeated = new ClassMetrics(2);
    float[] even = {0, 0};
    weighted.add(even, 0, 0, 3);
    weighted.add(even, 0, 1, 1);
    weighted.add(new float[] {Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}, 0, 1, 0);
    for (int i = 0; i < 3; i++) {
      repeated.add(even, 0, 0, 1);
    }
    repeated.add(even, 0, 1, 1);
    assertThat(weighted.result("y").accuracy()).isEqualTo(0.75);
    assertThat(weighted.result("y").logLoss()).isEqualTo(repeated.result("y").logLoss());
    weighted.clear();
    assertThat(weighted.result("y").accuracy()).isNaN();
  }

  @Test
  void figuresOfClassesStandWithTheFirstOfThemAndCountRowsOfTheTask() {
    Schema schema = new Schema(List.of("click", "kind"), List.of(), List.of());
    List<Task> tasks = new ArrayList<>(List.of(Task.of("click")));
    Task.ofClasses("kind", 2).forEach(task -> tasks.add(task.within("click")));
    TaskMetrics metrics = new TaskMetrics(TaskLabels.of(schema, tasks));
    Batch batch = new Batch(schema, 3);
    for (float[] row : new float[][] {{1, 1}, {0, 1}, {1, 0}}) {
      batch.setLabel(0, row[0]);
      batch.setLabel(1, row[1]);
      batch.endRow();
    }
    metrics.addLogits(new float[] {0, -1, 1, 0, 5, -5, 0, -2, 2}, batch);
    List<TaskMetrics.Result> results = metrics.results(2);
    ClassMetrics.Result classes = results.get(1).classes().orElseThrow();
    assertThat(classes.label()).isEqualTo("kind");
    assertThat(classes.rows()).isEqualTo(2);
    assertThat(classes.accuracy()).isEqualTo(0.5);
    double expected = (Math.log1p(Math.exp(-1)) + Math.log1p(Math.exp(2))) / 2;
    assertThat(classes.logLoss()).isCloseTo(expected, within(1e-12));
    assertThat(results.get(0).classes()).isEqualTo(Optional.empty());
    assertThat(results.get(2).classes()).isEqualTo(Optional.empty());
    assertThat(results.get(2).metrics().rows()).isEqualTo(2);
  }
}
