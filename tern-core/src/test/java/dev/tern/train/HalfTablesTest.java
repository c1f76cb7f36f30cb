package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.metrics.Metrics;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.optim.Optimizer.Adam.Untouched;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole runs on tables of F16 and BF16. */
final class HalfTablesTest {
  private static final Batch TRAIN = PlantedRuns.planted(1, 4000);
  private static final Batch TEST = PlantedRuns.planted(2, 3000);
  private static final ModelConfig MODEL =
      ModelConfig.of(ModelConfig.Type.DEEPFM, 9, 16, 8)
          .withDropout(0.1f)
          .withBottom(8)
          .withCrossLayers(2);

  @TempDir Path folder;

  private static TrainOptions options(DType storage, Untouched untouched) {
    Optimizer adam = new Optimizer.Adam(0.01f, 0.9f, 0.999f, 1e-8f, untouched);
    return TrainOptions.of(adam)
        .tableOptimizer(adam)
        .batch(128)
        .epochs(3)
        .shuffleRows(1000)
        .tables(t -> t.storage(storage));
  }

  private Path trained(DType storage, Untouched untouched, int threads) {
    Path target = folder.resolve(storage + "-" + threads);
    try (Device device = Device.cpu(threads, 1L << 27);
        Trainer trainer =
            Trainer.create(
                device, PlantedRuns.encoder(TRAIN), MODEL, options(storage, untouched))) {
      trainer.fit(Readers.inMemory(TRAIN));
      trainer.save(target);
    }
    return target;
  }

  private static double auc(Path checkpoint) {
    Metrics metrics = new Metrics();
    try (Predictor predictor = Predictor.open(checkpoint)) {
      float[] scores = predictor.score(TEST);
      for (int i = 0; i < scores.length; i++) {
        scores[i] = (float) Math.log(scores[i] / (1 - scores[i]));
      }
      metrics.addLogits(scores, TEST.labels(), scores.length);
    }
    return metrics.result().auc();
  }

  @Test
  void halfTablesLearnAsWellAsThoseOfF32() {
    double full = auc(trained(DType.F32, Untouched.KEPT, 2));
    assertThat(full).isGreaterThan(0.73);
    for (DType storage : List.of(DType.F16, DType.BF16)) {
      assertThat(auc(trained(storage, Untouched.KEPT, 2)))
          .as("%s", storage)
          .isCloseTo(full, within(0.005));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "F16, KEPT, 40",
    "BF16, KEPT, 40",
    "BF16, UPDATED, 33",
    "F16, UPDATED, 64",
    "F32, DECAYED, 33",
    "BF16, DECAYED, 40"
  })
  void weightsDependNeitherOnThreadsNorOnAStopBetween(DType storage, Untouched untouched, long stop)
      throws IOException {
    byte[] whole = PlantedRuns.contents(trained(storage, untouched, 1));
    assertThat(PlantedRuns.contents(trained(storage, untouched, 2))).isEqualTo(whole);
    assertThat(PlantedRuns.contents(trained(storage, untouched, 3))).isEqualTo(whole);
    TrainOptions options =
        options(storage, untouched).checkpoints(folder.resolve("run"), 0).reportEvery(1);
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, options)) {
      trainer.fit(
          Readers.inMemory(TRAIN),
          Optional.empty(),
          progress -> {
            if (progress.step() == stop) {
              trainer.requestStop();
            }
          });
      assertThat(trainer.step()).isEqualTo(stop);
    }
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.resume(device, folder.resolve("run"), MODEL, options)) {
      trainer.fit(Readers.inMemory(TRAIN));
      trainer.save(folder.resolve("resumed"));
    }
    assertThat(PlantedRuns.contents(folder.resolve("resumed"))).isEqualTo(whole);
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void aCheckpointHoldsWeightsAsTheyAreStored(DType storage) throws IOException {
    Path checkpoint = trained(storage, Untouched.KEPT, 1);
    try (SafeTensors file = SafeTensors.open(checkpoint.resolve("tables/0.safetensors"))) {
      assertThat(file.entry("weights").type()).isEqualTo(storage);
      assertThat(file.entry("state").type()).isEqualTo(DType.F32);
    }
    assertThat(Files.readString(checkpoint.resolve("manifest.json")))
        .containsPattern("\"storage\":\\s*\"" + storage + "\"");
  }

  @Test
  void aCheckpointOfAnotherStorageIsRefused() {
    Path checkpoint = trained(DType.BF16, Untouched.KEPT, 1);
    for (DType storage : List.of(DType.F32, DType.F16)) {
      try (Device device = Device.cpu(1, 1L << 27)) {
        assertThatThrownBy(
                () -> Trainer.resume(device, checkpoint, MODEL, options(storage, Untouched.KEPT)))
            .isInstanceOf(DataException.class)
            .hasMessageContaining("got weights stored as BF16, expected " + storage);
      }
    }
  }
}
