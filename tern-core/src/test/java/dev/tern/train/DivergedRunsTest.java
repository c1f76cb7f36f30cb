package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.DeltaSchedule;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs whose loss is finite up to their last step, which makes weights that are no numbers. */
final class DivergedRunsTest {
  private static final Batch ROWS = PlantedRuns.planted(5, 300);
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.DEEPFM, 2, 4);
  private static final float HUGE = 3e38f;
  private static final Optimizer SOUND = Optimizer.sgd(1f);

  @TempDir Path folder;

  private static Trainer trainer(Device device, TrainOptions options) {
    return Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, options);
  }

  private static TrainOptions options(Optimizer optimizer) {
    return TrainOptions.of(optimizer).tableOptimizer(SOUND).batch(300).shuffleRows(0);
  }

  private static void assertDiverges(TrainOptions options, String what) {
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = trainer(device, options)) {
      assertThatThrownBy(() -> trainer.fit(Readers.inMemory(ROWS)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContainingAll(what, "training diverged", "lower the learning rate");
    }
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void denseWeightsThatAreNoNumbersAreNotWritten() throws IOException {
    TrainOptions options = options(Optimizer.rmsProp(HUGE)).checkpoints(folder, 0);
    assertDiverges(options, "expected finite weights");
    assertThat(names()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "F16", "BF16"})
  void rowsThatAreNoNumbersAreNotWrittenInAnyStorage(DType storage) throws IOException {
    TrainOptions options =
        options(SOUND)
            .tableOptimizer(Optimizer.rmsProp(HUGE))
            .tables(tables -> tables.storage(storage))
            .checkpoints(folder, 0);
    assertDiverges(options, "the rows of table ");
    assertThat(names()).isEmpty();
  }

  @Test
  void aRunThatDivergesInALaterEpochKeepsTheCheckpointBefore() throws IOException {
    TrainOptions first = options(SOUND).checkpoints(folder, 0);
    for (DeltaSchedule deltas :
        List.of(DeltaSchedule.NEVER, new DeltaSchedule(1, Duration.ZERO, 3))) {
      try (Device device = Device.cpu(1, 1L << 26);
          Trainer trainer = trainer(device, first.deltas(deltas))) {
        trainer.fit(Readers.inMemory(ROWS));
        assertThat(names()).containsExactly("step-1");
        trainer.network().parameters().getFirst().set(weights(trainer, Float.NaN));
        assertThatThrownBy(() -> trainer.save(folder.resolve("saved")))
            .hasMessageContaining("no number in " + name(trainer));
      }
      assertThat(names()).containsExactly("step-1");
      assertThat(Checkpoint.openLatest(folder).step()).isEqualTo(1);
    }
  }

  private static String name(Trainer trainer) {
    return trainer.network().parameters().getFirst().name();
  }

  private static float[] weights(Trainer trainer, float last) {
    float[] weights = trainer.network().parameters().getFirst().toArray();
    weights[weights.length - 1] = last;
    return weights;
  }

  @Test
  void rowsOfBucketsAreLookedAtToo() throws IOException {
    TrainOptions options =
        options(SOUND)
            .tableOptimizer(Optimizer.rmsProp(HUGE))
            .tables(tables ->
                tables
                    .unknown(new UnknownRow.Hashed(2))
                    .rows(RowPolicy.ALL.withAdmission(new Admission.ByCount(100, 1000, 1))))
            .checkpoints(folder, 0);
    assertDiverges(options, "the rows of table ");
    assertThat(names()).isEmpty();
  }
}
