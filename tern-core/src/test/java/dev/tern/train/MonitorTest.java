package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.metrics.Metrics;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.Monitor.Figure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which evaluation is the best, and when that ends a run. */
final class MonitorTest {
  @TempDir Path folder;

  private static final Batch TRAIN = PlantedRuns.planted(1, 2000);
  private static final Batch TEST = PlantedRuns.planted(2, 1000);
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.DEEPFM, 8, 32);

  /** So fast a rate that the model soon knows its rows by heart. */
  private static TrainOptions options(Figure figure) {
    return TrainOptions.of(Optimizer.adam(0.05f))
        .batch(100)
        .epochs(30)
        .shuffleRows(0)
        .monitor(Monitor.of(figure))
        .group("site")
        .earlyStop(3);
  }

  @ParameterizedTest
  @EnumSource(
      value = Figure.class,
      names = {"AUC", "GAUC", "LOG_LOSS", "NORMALIZED_ENTROPY"})
  void theBestEvaluationIsTheBestByItsFigure(Figure figure) {
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, options(figure))) {
      List<Progress> evaluations = new ArrayList<>();
      trainer.fit(
          Readers.inMemory(TRAIN),
          Optional.of(Readers.inMemory(TEST)),
          report -> {
            if (report.split() == Progress.Split.EVAL) {
              evaluations.add(report);
            }
          });
      Progress best = evaluations.getFirst();
      for (Progress each : evaluations) {
        double now = figure(figure, each);
        double before = figure(figure, best);
        best =
            figure == Figure.AUC || figure == Figure.GAUC
                ? now > before ? each : best
                : now < before ? each : best;
      }
      assertThat(trainer.bestStep()).isEqualTo(best.step());
      assertThat(trainer.best()).isEqualTo(figure(figure, best));
      assertThat(trainer.hasStoppedEarly()).isTrue();
      assertThat(evaluations.getLast().step()).isEqualTo(best.step() + 3 * 20);
    }
  }

  private static double figure(Figure figure, Progress report) {
    Metrics.Result result = report.metrics();
    return switch (figure) {
      case AUC -> result.auc();
      case LOG_LOSS -> result.logLoss();
      case NORMALIZED_ENTROPY -> result.logLoss() / entropy(result.positiveRate());
      case MSE, MAE, R2, SMAPE, RECALL -> throw new AssertionError(figure);
      case GAUC -> report.tasks().getFirst().groups().orElseThrow().auc().byRows();
    };
  }

  private static double entropy(double p) {
    return -p * Math.log(p) - (1 - p) * Math.log1p(-p);
  }

  @Test
  void noValueIsNeverBetter() {
    for (Figure figure : Figure.values()) {
      Monitor monitor = Monitor.of(figure);
      assertThat(monitor.isBetter(Double.NaN, Double.NaN)).isFalse();
      assertThat(monitor.isBetter(Double.NaN, 0.5)).isFalse();
      assertThat(monitor.isBetter(0.5, Double.NaN)).isTrue();
      assertThat(monitor.isBetter(0.5, 0.5)).isFalse();
    }
    assertThat(Monitor.AUC.isBetter(0.6, 0.5)).isTrue();
    assertThat(Monitor.of(Figure.LOG_LOSS).isBetter(0.6, 0.5)).isFalse();
    assertThat(new Monitor(Figure.LOG_LOSS, "buy")).hasToString("log loss of buy");
  }

  @Test
  void aTaskThatIsNotThereIsRefused() {
    TrainOptions other = options(Figure.AUC).monitor(new Monitor(Figure.AUC, "buy"));
    try (Device device = Device.cpu(1, 1L << 28)) {
      assertThatThrownBy(() -> Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, other))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("monitor: got the task buy, expected one of [click]");
    }
  }

  @Test
  void aRunGoesOnByTheFigureThatItBeganWith() {
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 28)) {
      try (Trainer trainer =
          Trainer.create(
              device,
              PlantedRuns.encoder(TRAIN),
              MODEL,
              options(Figure.LOG_LOSS).epochs(1).earlyStop(0))) {
        trainer.fit(Readers.inMemory(TRAIN));
        trainer.save(saved);
      }
      Trainer.resume(device, saved, MODEL, options(Figure.LOG_LOSS)).close();
      assertThatThrownBy(() -> Trainer.resume(device, saved, MODEL, options(Figure.AUC)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("resume: got monitor \"\", expected \"log loss\"");
    }
  }
}
