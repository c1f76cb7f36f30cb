package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.DeltaRuns;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.internal.memory.Memory;
import dev.tern.model.ModelConfig;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs whose embeddings, and their linear weights, have optimizers of their own. */
final class RowRuleTrainingTest {
  private static final Batch TRAIN = PlantedRuns.planted(1, 4000);
  private static final Batch TEST = PlantedRuns.planted(2, 500);
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
  private static final Optimizer FTRL = new Optimizer.Ftrl(0.1f, 1, 0.01f, 0.01f);

  @TempDir Path folder;

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f))
        .tableOptimizer(new Optimizer.Adagrad(0.05f, 0.1f, 1e-8f))
        .tables(t -> t.firstPart(FTRL))
        .batch(64)
        .epochs(2)
        .shuffleRows(500)
        .reportEvery(1);
  }

  private Path trained(TrainOptions options, int threads, String name) {
    Path target = folder.resolve(name);
    try (Device device = Device.cpu(threads, 1L << 27);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, options)) {
      trainer.fit(Readers.inMemory(TRAIN));
      trainer.save(target);
    }
    return target;
  }

  @Test
  void weightsDependNeitherOnThreadsNorOnAStopBetween() throws IOException {
    byte[] whole = PlantedRuns.contents(trained(options(), 1, "one"));
    assertThat(PlantedRuns.contents(trained(options(), 3, "three"))).isEqualTo(whole);
    TrainOptions options =
        options().checkpoints(folder.resolve("run"), 0).deltas(DeltaRuns.everySteps(7, 4));
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, options)) {
      trainer.fit(
          Readers.inMemory(TRAIN),
          Optional.empty(),
          progress -> {
            if (progress.step() == 75) {
              trainer.requestStop();
            }
          });
    }
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.resume(device, folder.resolve("run"), MODEL, options)) {
      trainer.fit(Readers.inMemory(TRAIN));
      trainer.save(folder.resolve("resumed"));
    }
    assertThat(PlantedRuns.contents(folder.resolve("resumed"))).isEqualTo(whole);
  }

  @Test
  void theModelScoresAsItWasTrained() throws IOException {
    Path saved = trained(options(), 1, "saved");
    float[] expected = scores(saved);
    Checkpoint checkpoint = Checkpoint.open(saved);
    checkpoint.compact(folder.resolve("compact"));
    assertThat(scores(folder.resolve("compact"))).isEqualTo(expected);
    assertThat(firstState(saved, 6)[1]).isPositive();
  }

  private static float[] scores(Path checkpoint) {
    try (Predictor predictor = Predictor.open(checkpoint)) {
      return predictor.score(TEST);
    }
  }

  private static float[] firstState(Path checkpoint, int count) throws IOException {
    try (SafeTensors file = SafeTensors.open(checkpoint.resolve("tables/0.safetensors"))) {
      assertThat(file.entry("state").shape().get(1)).isEqualTo(count);
      byte[] bytes = Files.readAllBytes(checkpoint.resolve("tables/0.safetensors"));
      ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      int at = (int) (8 + buffer.getLong(0) + file.entry("state").offset());
      float[] state = new float[count];
      for (int j = 0; j < count; j++) {
        state[j] = buffer.getFloat(at + 4 * j);
      }
      return state;
    }
  }

  @Test
  void anotherRuleIsRefusedOnResumeAndOneForAModelOfOnePartAtOnce() {
    Path saved = trained(options(), 1, "saved");
    try (Device device = Device.cpu(1, 1L << 27)) {
      TrainOptions others = options().tables(t -> t.firstPart(Optimizer.ftrl(0.2f)));
      assertThatThrownBy(() -> Trainer.resume(device, saved, MODEL, others))
          .hasMessageContaining("got tables")
          .hasMessageContaining("give the options of the run");
      TrainOptions without =
          TrainOptions.of(Optimizer.adam(0.01f))
              .tableOptimizer(options().tables().optimizer())
              .batch(64)
              .shuffleRows(500);
      assertThatThrownBy(() -> Trainer.resume(device, saved, MODEL, without))
          .isInstanceOfAny(IllegalArgumentException.class, DataException.class);
      ModelConfig lr = ModelConfig.of(ModelConfig.Type.LR, 4);
      assertThatThrownBy(() -> Trainer.create(device, PlantedRuns.encoder(TRAIN), lr, options()))
          .hasMessageContaining("has rows of one part, of 1 weights; leave it out");
      assertThatThrownBy(() ->
              Trainer.create(
                  device,
                  PlantedRuns.encoder(TRAIN),
                  MODEL,
                  options().schedule(new LearningRate.WarmupDecay(0.1f, 10, 20, 10, 2, 0))))
          .hasMessageContaining("got FTRL with the learning rate");
      assertThatThrownBy(() ->
              Trainer.create(
                  device,
                  PlantedRuns.encoder(TRAIN),
                  MODEL,
                  TrainOptions.of(Optimizer.sgd(0)).tableOptimizer(Optimizer.sgd(1))))
          .hasMessageContaining("expected one above 0 for both");
    }
  }

  @Test
  void tablesMoveAtTheirOwnRateWhateverTheScheduleIs() {
    TrainOptions slow =
        TrainOptions.of(Optimizer.sgd(0.5f)).batch(64).shuffleRows(0).reportEvery(1);
    List<Float> start = weights(slow.schedule(LearningRate.constant(0)));
    List<Float> once = weights(slow.schedule(LearningRate.constant(0.25f)));
    List<Float> thrice =
        weights(slow.tableOptimizer(Optimizer.sgd(1.5f)).schedule(LearningRate.constant(0.25f)));
    int moved = 0;
    for (int i = 0; i < start.size(); i++) {
      float move = once.get(i) - start.get(i);
      assertThat(thrice.get(i) - start.get(i)).isCloseTo(3 * move, within(1e-6f));
      moved += Math.abs(move) > 1e-5f ? 1 : 0;
    }
    assertThat(moved).isGreaterThan(start.size() / 4);
  }

  /** Of all tables after one step. */
  private static List<Float> weights(TrainOptions options) {
    List<Float> weights = new ArrayList<>();
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, options)) {
      trainer.fit(Readers.inMemory(TRAIN), Optional.empty(), _ -> trainer.requestStop());
      assertThat(trainer.step()).isOne();
      for (EmbeddingTable table : trainer.network().tables().tables()) {
        table.exportTo((ids, segment, count) -> {
          long values = segment.address();
          for (int i = 0; i < count * table.config().rowFloats(); i++) {
            weights.add(Memory.getFloat(values + 4L * i));
          }
        });
      }
    }
    return weights;
  }
}
