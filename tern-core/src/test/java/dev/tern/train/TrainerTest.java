package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.readers.Readers;
import dev.tern.metrics.Metrics;
import dev.tern.model.ModelConfig;
import dev.tern.nn.Activation;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TrainerTest {
  @TempDir Path folder;

  private static final Batch TRAIN = PlantedRuns.planted(1, 6000);
  private static final Batch TEST = PlantedRuns.planted(2, 3000);

  private static DataReader train() {
    return Readers.inMemory(TRAIN);
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f)).batch(128).epochs(3).shuffleRows(1000);
  }

  private static ModelConfig small(ModelConfig.Type type) {
    return ModelConfig.of(type, 4, 16, 8).withDropout(0.1f).withBottom(8).withCrossLayers(2);
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"ESMM", "NEUMF", "GMF", "TWOTOWER"})
  void everyModelLearnsPlantedClicks(ModelConfig.Type type) {
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(TRAIN, type), small(type), options())) {
      List<Progress> reports = new ArrayList<>();
      trainer.fit(train(), Optional.of(Readers.inMemory(TEST)), reports::add);
      assertThat(trainer.best()).isGreaterThan(0.73);
      List<Progress> training =
          reports.stream().filter(r -> r.split() == Progress.Split.TRAIN).toList();
      assertThat(training.getLast().metrics().logLoss())
          .isLessThan(training.getFirst().metrics().logLoss());
      assertThat(training.getLast().pace().fractionDone()).isEqualTo(1);
      assertThat(trainer.step()).isEqualTo(3 * 47);
    }
  }

  @Test
  void twoLabelsNeedAChoice() {
    Batch one = PlantedRuns.planted(1, 200);
    Batch noise = new Batch(new Schema(List.of("noise"), List.of(), List.of()), 200);
    noise.resize(200);
    DataReader rows = Readers.composed(List.of(Readers.inMemory(noise), Readers.inMemory(one)));
    Batch both = rows.next().orElseThrow();
    rows.start(0);
    TrainOptions options = TrainOptions.of(Optimizer.sgd(0.1f)).batch(50);
    ModelConfig model = ModelConfig.of(ModelConfig.Type.LR, 2, 1);
    try (Device device = Device.cpu(1, 1L << 26)) {
      assertThatThrownBy(() -> Trainer.create(device, PlantedRuns.encoder(both), model, options))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll("[noise, click], expected one", "Readers.withLabel");
      DataReader clicks = Readers.withLabel(rows, "click");
      List<float[]> weights = new ArrayList<>();
      for (DataReader reader : List.of(clicks, Readers.inMemory(one))) {
        try (Trainer trainer = Trainer.create(device, PlantedRuns.encoder(one), model, options)) {
          trainer.fit(reader);
          weights.add(trainer.network().parameters().getFirst().toArray());
        }
      }
      assertThat(weights.get(0)).isEqualTo(weights.get(1));
    }
  }

  @Test
  void anEvaluationAtTheEndOfAnEpochBelongsToThatEpoch() {
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer =
            Trainer.create(
                device, PlantedRuns.encoder(TRAIN), small(ModelConfig.Type.LR), options())) {
      List<Integer> epochs = new ArrayList<>();
      trainer.fit(
          train(),
          Optional.of(Readers.inMemory(TEST)),
          report -> {
            if (report.split() == Progress.Split.EVAL) {
              epochs.add(report.epoch());
            }
          });
      assertThat(epochs).containsExactly(0, 1, 2);
    }
  }

  static List<Optimizer> optimizers() {
    return List.of(
        Optimizer.sgd(0.5f),
        Optimizer.momentum(0.1f),
        Optimizer.nesterov(0.1f),
        Optimizer.adagrad(0.1f),
        Optimizer.rowWiseAdagrad(0.1f),
        Optimizer.rmsProp(0.01f),
        Optimizer.adam(0.01f),
        new Optimizer.Ftrl(0.1f, 0.001f, 0, 0));
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  void everyOptimizerLearnsPlantedClicks(Optimizer optimizer) {
    TrainOptions options =
        TrainOptions.of(optimizer).batch(128).epochs(3).shuffleRows(1000).tableOptimizer(optimizer);
    // FTRL draws weights to zero, which leaves a deep network without a start.
    ModelConfig.Type type =
        optimizer instanceof Optimizer.Ftrl ? ModelConfig.Type.LR : ModelConfig.Type.WDL;
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(TRAIN, type), small(type), options)) {
      trainer.fit(train());
      assertThat(trainer.evaluate(Readers.inMemory(TEST)).auc()).isGreaterThan(0.7);
    }
  }

  private byte[] weightsAfter(int threads, String name) throws IOException {
    return weightsAfter(threads, name, small(ModelConfig.Type.DEEPFM));
  }

  private byte[] weightsAfter(int threads, String name, ModelConfig model) throws IOException {
    Path target = folder.resolve(name);
    try (Device device = Device.cpu(threads, 1L << 28);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), model, options())) {
      trainer.fit(train());
      trainer.save(target);
    }
    return PlantedRuns.contents(target);
  }

  @Test
  void weightsDoNotDependOnTheNumberOfThreads() throws IOException {
    byte[] one = weightsAfter(1, "one");
    assertThat(weightsAfter(2, "two")).isEqualTo(one);
    assertThat(weightsAfter(3, "three")).isEqualTo(one);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 46, 47, 60, 140})
  void aRunStoppedAtAnyStepAndResumedEndsWithTheSameBytes(long stop) throws IOException {
    byte[] whole = weightsAfter(2, "whole");
    ModelConfig model = small(ModelConfig.Type.DEEPFM);
    TrainOptions options = options().checkpoints(folder.resolve("run"), 0).reportEvery(1);
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), model, options)) {
      trainer.fit(
          train(),
          Optional.empty(),
          progress -> {
            if (progress.step() == stop) {
              trainer.requestStop();
            }
          });
      assertThat(trainer.step()).isEqualTo(stop);
    }
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = Trainer.resume(device, folder.resolve("run"), model, options)) {
      assertThat(trainer.step()).isEqualTo(stop);
      trainer.fit(train());
      trainer.save(folder.resolve("resumed"));
    }
    assertThat(PlantedRuns.contents(folder.resolve("resumed"))).isEqualTo(whole);
  }

  /** Models with statistics that move from step to step, learned slopes, crosses of low rank. */
  static List<ModelConfig> normalized() {
    return List.of(
        small(ModelConfig.Type.DCNV2).withCross(3, 2).withActivation(Activation.DICE, true),
        small(ModelConfig.Type.DCNV2).withCross(3, 0).withActivation(Activation.DICE, false),
        small(ModelConfig.Type.DLRM).withActivation(Activation.PRELU, true));
  }

  @ParameterizedTest
  @MethodSource("normalized")
  void modelsWithMovingStatisticsLearnAndAreResumedWithTheSameBytes(ModelConfig model)
      throws IOException {
    byte[] whole = weightsAfter(1, "whole", model);
    assertThat(weightsAfter(3, "three", model)).isEqualTo(whole);
    TrainOptions options = options().checkpoints(folder.resolve("run"), 0).reportEvery(1);
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), model, options)) {
      trainer.fit(
          train(),
          Optional.empty(),
          progress -> {
            if (progress.step() == 50) {
              trainer.requestStop();
            }
          });
    }
    assertThat(Checkpoint.openLatest(folder.resolve("run")).model()).contains(model);
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = Trainer.resume(device, folder.resolve("run"), model, options)) {
      trainer.fit(train());
      trainer.save(folder.resolve("resumed"));
      assertThat(trainer.evaluate(Readers.inMemory(TEST)).auc()).isGreaterThan(0.72);
    }
    assertThat(PlantedRuns.contents(folder.resolve("resumed"))).isEqualTo(whole);
  }

  @Test
  void waitingForDataIsAShareOfTheTimeOfTraining() {
    DataReader slow =
        Readers.mapped(
            train(),
            train().schema(),
            (from, to) -> {
              LockSupport.parkNanos(2_000_000);
              to.appendRows(from, 0, from.size());
            });
    List<Progress> reports = new ArrayList<>();
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer =
            Trainer.create(
                device,
                PlantedRuns.encoder(TRAIN),
                small(ModelConfig.Type.LR),
                options().reportEvery(10))) {
      trainer.fit(slow, Optional.of(Readers.inMemory(TEST)), reports::add);
    }
    assertThat(reports)
        .filteredOn(report -> report.split() == Progress.Split.TRAIN)
        .isNotEmpty()
        .allSatisfy(report -> assertThat(report.pace().waiting()).isBetween(0.0, 1.0))
        .anySatisfy(report -> assertThat(report.pace().waiting()).isPositive());
    assertThat(reports)
        .filteredOn(report -> report.split() == Progress.Split.EVAL)
        .isNotEmpty()
        .allSatisfy(report -> assertThat(report.pace().waiting()).isNaN());
  }

  @Test
  void afterAFailedEvaluationARunGoesOnAsIfItHadNotFailed() throws IOException {
    ModelConfig model = small(ModelConfig.Type.DEEPFM);
    TrainOptions options = options().checkpoints(folder.resolve("whole"), 0);
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), model, options)) {
      trainer.fit(train(), Optional.of(Readers.inMemory(TEST)), Progress.Listener.none());
    }
    Batch broken = PlantedRuns.planted(2, 3000);
    broken.labels()[2999] = 2;
    options = options().checkpoints(folder.resolve("run"), 0);
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), model, options)) {
      assertThatThrownBy(() ->
              trainer.fit(train(), Optional.of(Readers.inMemory(broken)), Progress.Listener.none()))
          .hasMessageContaining("got the label 2.0");
    }
    assertThat(folder.resolve("run/step-47")).isDirectory();
    List<Integer> evaluated = new ArrayList<>();
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = Trainer.resume(device, folder.resolve("run"), model, options)) {
      trainer.fit(
          train(),
          Optional.of(Readers.inMemory(TEST)),
          report -> {
            if (report.split() == Progress.Split.EVAL) {
              evaluated.add(report.epoch());
            }
          });
    }
    assertThat(evaluated).containsExactly(0, 1, 2);
    for (String name : List.of("best", "step-141")) {
      assertThat(PlantedRuns.contents(folder.resolve("run").resolve(name)))
          .as(name)
          .isEqualTo(PlantedRuns.contents(folder.resolve("whole").resolve(name)));
    }
  }

  @Test
  void evaluationStopsEarlyAndTheBestAndTheLastCheckpointAreKept() {
    TrainOptions options =
        options()
            .epochs(50)
            .evaluateEvery(20)
            .earlyStop(3)
            .schedule(LearningRate.constant(0.05f))
            .checkpoints(folder.resolve("run"), 0);
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer =
            Trainer.create(
                device, PlantedRuns.encoder(TRAIN), small(ModelConfig.Type.DEEPFM), options)) {
      trainer.fit(train(), Optional.of(Readers.inMemory(TEST)), Progress.Listener.none());
      assertThat(trainer.step()).isLessThan(50 * 47);
      Checkpoint best = Checkpoint.open(folder.resolve("run"));
      try (Predictor predictor = Predictor.open(folder.resolve("run"))) {
        Metrics metrics = new Metrics();
        float[] scores = predictor.score(TEST);
        float[] logits = new float[scores.length];
        for (int i = 0; i < scores.length; i++) {
          logits[i] = (float) Math.log(scores[i] / (1 - scores[i]));
        }
        metrics.addLogits(logits, TEST.labels(), scores.length);
        assertThat(metrics.result().auc())
            .isCloseTo(trainer.best(), org.assertj.core.data.Offset.offset(1e-4));
      }
      assertThat(best.step()).isLessThan(trainer.step());
      assertThat(trainer.step() % 47).as("within an epoch").isNotZero();
      assertThat(Checkpoint.openLatest(folder.resolve("run")).step()).isEqualTo(trainer.step());
      try (Trainer resumed =
          Trainer.resume(device, folder.resolve("run"), small(ModelConfig.Type.DEEPFM), options)) {
        resumed.fit(train(), Optional.of(Readers.inMemory(TEST)), Progress.Listener.none());
        assertThat(resumed.step()).as("it has ended").isEqualTo(trainer.step());
      }
    }
  }
}
