package dev.tern.hugectr;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.readers.Readers;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Imported models train on. */
final class HugeCtrTrainingTest {
  private static final int ROWS = 512;

  @TempDir private Path folder;

  /** Rows whose click follows from two of their ids and a number. */
  private static Batch planted(Schema schema) {
    Random random = new Random(2);
    Batch batch = new Batch(schema, ROWS);
    for (int row = 0; row < ROWS; row++) {
      double score = 0;
      for (int f = 0; f < schema.denseDim(); f++) {
        float number = (float) random.nextGaussian();
        batch.setDense(f, number);
        score += f == 0 ? number : 0;
      }
      for (int s = 0; s < schema.slotCount(); s++) {
        long id = random.nextInt(MadeModel.KEYS);
        batch.addId(s, id);
        score += s < 2 ? (id % 2 == 0 ? 1 : -1) : 0;
      }
      for (int l = 0; l < schema.labelDim(); l++) {
        batch.setLabel(l, score > 0 ? 1 : 0);
      }
      batch.endRow();
    }
    return batch;
  }

  private double[] losses(String sample) {
    Path run = folder.resolve("run");
    HugeCtrImportTest.imported(MadeModel.of(folder.resolve("made"), sample), run);
    Checkpoint from = Checkpoint.open(run);
    Batch rows = planted(from.encoder().rawSchema());
    double[] losses = new double[2];
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.01f)).batch(64).epochs(12);
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer =
            Trainer.warmStart(device, from, from.encoder(), from.requireModel(), options)) {
      assertThat(trainer.fresh()).isEmpty();
      trainer.fit(
          Readers.inMemory(rows),
          Optional.empty(),
          progress -> {
            losses[0] = losses[0] == 0 ? progress.rows().loss() : losses[0];
            losses[1] = progress.rows().loss();
          });
      trainer.save(folder.resolve("trained"));
    }
    return losses;
  }

  @Test
  void theLossOfAnImportedModelFallsAndItsScoresAreThoseOfThePredictor() {
    double[] losses = losses("wdl");
    assertThat(losses[1]).isLessThan(0.7 * losses[0]);
    try (Predictor predictor = Predictor.open(folder.resolve("trained"))) {
      Batch rows = planted(predictor.encoder().rawSchema());
      float[] scores = predictor.score(rows);
      int right = 0;
      for (int row = 0; row < ROWS; row++) {
        right += scores[row] > 0.5 == rows.labels()[row] > 0.5 ? 1 : 0;
      }
      assertThat(right).isGreaterThan(ROWS * 8 / 10);
    }
  }

  @Test
  void attentionAndNormsOfAnImportedModelLearn() {
    double[] losses = losses("bst");
    assertThat(losses[1]).isLessThan(0.9 * losses[0]);
  }
}
