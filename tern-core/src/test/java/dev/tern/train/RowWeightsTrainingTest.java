package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.metrics.Metrics;
import dev.tern.model.ModelConfig;
import dev.tern.model.Task;
import dev.tern.model.Towers;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.predict.ScoreOptions;
import dev.tern.tensor.Device;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows that count more or less than once in the loss and in metrics. */
final class RowWeightsTrainingTest {
  @TempDir Path folder;

  private static final Schema PLAIN =
      new Schema(List.of("click", "buy"), List.of("x"), List.of(Slot.oneHot("ad")));
  private static final Schema WEIGHTED = PLAIN.withWeight(Optional.of("w"));

  /** A row: its number makes features and labels. */
  private static void add(Batch batch, int number, float weight) {
    batch.setLabel(0, number % 3 == 0 ? 0 : 1);
    batch.setLabel(1, number % 2);
    batch.setDense(0, (number % 7) / 3f - 1);
    batch.addId(0, number % 5);
    if (batch.schema().weighted()) {
      batch.setRowWeight(weight);
    }
    batch.endRow();
  }

  private static Trainer trainer(Device device, Schema schema) {
    ModelConfig model =
        ModelConfig.of(ModelConfig.Type.SHAREDBOTTOM, 4, 8)
            .withTowers(
                new Towers(
                    List.of(
                        Task.of("click").withPositiveWeight(3),
                        Task.of("buy").withWeight(0.5f).within("click")),
                    List.of(4),
                    1,
                    List.of()));
    return Trainer.create(device, encoder(schema), model, TrainOptions.of(Optimizer.sgd(0.5f)));
  }

  private static FeatureEncoder encoder(Schema schema) {
    return FeatureEncoder.fit(
        Readers.inMemory(schema, List.of()),
        List.of(NumberEncoding.none()),
        List.of(IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  private static List<Float> parameters(Trainer trainer) {
    List<Float> all = new ArrayList<>();
    trainer
        .network()
        .parameters()
        .forEach(parameter -> {
          for (float value : parameter.toArray()) {
            all.add(value);
          }
        });
    return all;
  }

  private static float[] step(Trainer trainer, Batch batch) {
    float loss = trainer.step(encoded(trainer, batch)).loss();
    float[] all = new float[parameters(trainer).size() + 1];
    for (int i = 1; i < all.length; i++) {
      all[i] = parameters(trainer).get(i - 1);
    }
    all[0] = loss;
    return all;
  }

  private static Batch encoded(Trainer trainer, Batch batch) {
    Batch encoded = new Batch(trainer.encoder().schema(), batch.size());
    trainer.encoder().apply(batch, encoded);
    return encoded;
  }

  @Test
  void aRowOfWeightTwoTrainsAsTwoRows() {
    Batch weighted = new Batch(WEIGHTED, 1);
    Batch repeated = new Batch(PLAIN, 1);
    int[] times = {2, 1, 0, 3, 1, 1, 4, 2};
    for (int n = 0; n < times.length; n++) {
      add(weighted, n, times[n]);
      for (int k = 0; k < times[n]; k++) {
        add(repeated, n, 1);
      }
    }
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer one = trainer(device, WEIGHTED);
        Trainer other = trainer(device, PLAIN)) {
      assertThat(step(one, weighted)).containsExactly(step(other, repeated), within(2e-6f));
    }
  }

  @Test
  void weightsOfOneTrainAsRowsWithout() {
    Batch weighted = new Batch(WEIGHTED, 1);
    Batch plain = new Batch(PLAIN, 1);
    for (int n = 0; n < 50; n++) {
      add(weighted, n, 1);
      add(plain, n, 1);
    }
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer one = trainer(device, WEIGHTED);
        Trainer other = trainer(device, PLAIN)) {
      assertThat(step(one, weighted)).containsExactly(step(other, plain), within(1e-6f));
    }
  }

  @Test
  void aBatchWhoseWeightsAreAllZeroHasNoLossAndChangesNothing() {
    Batch batch = new Batch(WEIGHTED, 1);
    for (int n = 0; n < 9; n++) {
      add(batch, n, 0);
    }
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = trainer(device, WEIGHTED)) {
      List<Float> before = parameters(trainer);
      assertThat(trainer.step(encoded(trainer, batch)).loss()).isZero();
      assertThat(parameters(trainer)).isEqualTo(before);
    }
  }

  @Test
  void trainersRefuseRowsWithoutTheWeightsThatTheyWereMadeFor() {
    Batch plain = new Batch(PLAIN, 1);
    add(plain, 1, 1);
    Batch weighted = new Batch(WEIGHTED, 1);
    add(weighted, 1, 1);
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer one = trainer(device, WEIGHTED);
        Trainer other = trainer(device, PLAIN)) {
      assertThatThrownBy(() -> one.batches(Readers.inMemory(plain)))
          .hasMessageContaining("got no weights, expected the column of weights w");
      assertThatThrownBy(() -> one.evaluate(Readers.inMemory(plain)))
          .hasMessageContaining("expected the column of weights w");
      assertThatThrownBy(() -> other.batches(Readers.inMemory(weighted)))
          .hasMessageContaining("got the column of weights w, expected no weights");
    }
  }

  private static double rate(float x, int ad) {
    return 1 / (1 + Math.exp(3.2 - 0.7 * x - Math.sin(ad)));
  }

  /**
   * Clicks at about 1 of 20 rows, of which a share without a click was kept; the weight makes up
   * for it.
   */
  private static Batch subsampled(long seed, int rows, double kept, Schema schema) {
    Batch batch = new Batch(schema, rows);
    Random random = new Random(seed);
    while (batch.size() < rows) {
      int ad = random.nextInt(20);
      float x = (float) random.nextGaussian();
      double rate = rate(x, ad);
      boolean click = random.nextDouble() < rate;
      if (click || random.nextDouble() < kept) {
        batch.setLabel(0, click ? 1 : 0);
        batch.setDense(0, x);
        batch.addId(0, ad);
        if (schema.weighted()) {
          batch.setRowWeight(click ? 1 : (float) (1 / kept));
        }
        batch.endRow();
      }
    }
    return batch;
  }

  private static Metrics.Result ofPopulation(Schema schema, Path folder) {
    Schema plain = new Schema(List.of("click"), List.of("x"), List.of(Slot.oneHot("ad")));
    TrainOptions options =
        TrainOptions.of(Optimizer.adam(0.1f))
            .schedule(LearningRate.warmupDecay(0.1f, 1, 150, 250))
            .batch(500)
            .epochs(5)
            .shuffleRows(40_000);
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(
                device, encoder(schema), ModelConfig.of(ModelConfig.Type.LR, 1), options)) {
      trainer.fit(Readers.inMemory(subsampled(1, 40_000, 0.1, schema)));
      trainer.save(folder.resolve("saved"));
    }
    // The rates themselves are the labels, so that no chance is in them.
    Metrics metrics = Metrics.ofSoftLabels();
    try (Predictor predictor =
        Predictor.open(Checkpoint.open(folder.resolve("saved")), ScoreOptions.DEFAULT)) {
      // The full population has no weights, and scoring asks for none.
      Batch rows = subsampled(2, 50_000, 1, plain);
      float[] rates = new float[rows.size()];
      for (int row = 0; row < rates.length; row++) {
        rates[row] = (float) rate(rows.dense()[row], (int) rows.ids(0)[row]);
      }
      metrics.addProbabilities(predictor.score(rows), rates, rates.length);
      assertThat(predictor.score(Map.of("x", 0.5, "ad", 3))).isBetween(0f, 1f);
    }
    return metrics.result();
  }

  @Test
  void weightsMakeUpForRowsThatWereLeftOut() {
    Schema plain = new Schema(List.of("click"), List.of("x"), List.of(Slot.oneHot("ad")));
    Metrics.Result weighted =
        ofPopulation(plain.withWeight(Optional.of("w")), folder.resolve("weighted"));
    Metrics.Result without = ofPopulation(plain, folder.resolve("plain"));
    assertThat(weighted.calibration()).isCloseTo(1, within(0.02));
    assertThat(without.calibration()).isGreaterThan(3);
    assertThat(weighted.normalizedEntropy()).isLessThan(0.95);
    assertThat(without.normalizedEntropy()).isGreaterThan(1.1);
  }

  @Test
  void aRunResumesWithItsWeightsToTheBit() {
    Schema schema =
        new Schema(List.of("click"), List.of("x"), List.of(Slot.oneHot("ad")), Optional.of("w"));
    Batch rows = subsampled(3, 3000, 0.2, schema);
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
    TrainOptions options =
        TrainOptions.of(Optimizer.adam(0.01f)).batch(128).epochs(2).shuffleRows(500);
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer whole = Trainer.create(device, encoder(schema), model, options);
        Trainer first = Trainer.create(device, encoder(schema), model, options.epochs(1))) {
      whole.fit(Readers.inMemory(rows));
      first.fit(Readers.inMemory(rows));
      first.save(folder.resolve("first"));
      try (Trainer resumed = Trainer.resume(device, folder.resolve("first"), model, options)) {
        assertThat(resumed.encoder().rawSchema().weight()).contains("w");
        resumed.fit(Readers.inMemory(rows));
        assertThat(parameters(resumed)).isEqualTo(parameters(whole));
        Metrics.Result weighted = resumed.evaluate(Readers.inMemory(rows));
        assertThat(weighted.positiveRate()).isLessThan(weighted.positives() / 3000.0);
      }
    }
  }
}
