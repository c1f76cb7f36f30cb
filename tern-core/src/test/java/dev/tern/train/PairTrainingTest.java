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
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.metrics.Metrics;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelConfig.Pairs;
import dev.tern.model.ModelConfig.Type;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole runs of factorization machines on rows whose slots hold several ids. */
final class PairTrainingTest {
  @TempDir Path folder;

  /** Rows of two features in one slot, a in {1, 2} and b in {3, 4}; the label is a xor b. */
  private static Batch xor(long seed, int rows) {
    Batch batch = new Batch(new Schema(List.of("y"), List.of(), List.of(Slot.ragged("all"))), rows);
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < rows; i++) {
      int a = random.nextInt(2);
      int b = random.nextInt(2);
      batch.setLabel(0, a ^ b);
      batch.addId(0, 1 + a);
      batch.addId(0, 3 + b);
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder encoder(Batch rows) {
    int slots = rows.schema().slotCount();
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(),
        Collections.nCopies(slots, IdEncoding.verbatim()),
        TextDictionary.none(),
        _ -> {});
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.02f)).batch(128).epochs(6).shuffleRows(1000);
  }

  private static double auc(ModelConfig model) {
    Batch rows = xor(1, 4000);
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.create(device, encoder(rows), model, options())) {
      trainer.fit(Readers.inMemory(rows));
      return trainer.evaluate(Readers.inMemory(xor(2, 1000))).auc();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"FM", "DEEPFM"})
  void twoFeaturesOfOneSlotAreAPair(Type type) {
    assertThat(auc(ModelConfig.of(type, 8, 8))).isGreaterThan(0.95);
  }

  @Test
  void pairsOfSlotsDoNotSeeThem() {
    assertThat(auc(ModelConfig.of(Type.FM, 8).withPairs(Pairs.SLOTS))).isBetween(0.3, 0.7);
  }

  /** Rows of two slots of one id or, in the second, none. */
  private static Batch single(int rows) {
    Batch batch =
        new Batch(
            new Schema(List.of("y"), List.of(), List.of(Slot.ragged("1"), Slot.ragged("2"))), rows);
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < rows; i++) {
      batch.setLabel(0, random.nextInt(2));
      batch.addId(0, random.nextInt(50));
      if (i % 5 > 0) {
        batch.addId(1, random.nextInt(50));
      }
      batch.endRow();
    }
    return batch;
  }

  private Map<String, List<Byte>> weights(Type type, Pairs pairs) throws IOException {
    Batch rows = single(1000);
    Path target = folder.resolve(type + "-" + pairs);
    ModelConfig model = ModelConfig.of(type, 9, 8).withPairs(pairs);
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.create(device, encoder(rows), model, options().epochs(2))) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(target);
    }
    Map<String, List<Byte>> files = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(target)) {
      for (Path path : paths.filter(p -> p.toString().endsWith(".safetensors")).toList()) {
        byte[] bytes = Files.readAllBytes(path);
        Byte[] boxed = new Byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
          boxed[i] = bytes[i];
        }
        files.put(target.relativize(path).toString(), List.of(boxed));
      }
    }
    return files;
  }

  @ParameterizedTest
  @EnumSource(names = {"FM", "DEEPFM"})
  void rowsOfOneIdASlotKeepTheBitsOfPairsOfSlots(Type type) throws IOException {
    assertThat(weights(type, Pairs.FEATURES))
        .isEqualTo(weights(type, Pairs.SLOTS))
        .hasSizeGreaterThanOrEqualTo(3);
  }

  @Test
  void aCheckpointThatDoesNotNameItsPairsHasPairsOfSlots() throws IOException {
    Batch rows = xor(1, 500);
    ModelConfig ofSlots = ModelConfig.of(Type.FM, 8).withPairs(Pairs.SLOTS);
    for (ModelConfig model : List.of(ofSlots, ModelConfig.of(Type.FM, 8))) {
      Path target = folder.resolve(model.pairs().name());
      try (Device device = Device.cpu(1, 1L << 26);
          Trainer trainer = Trainer.create(device, encoder(rows), model, options().epochs(1))) {
        trainer.fit(Readers.inMemory(rows));
        trainer.save(target);
      }
      assertThat(Files.readString(target.resolve("manifest.json")).contains("pairs"))
          .isEqualTo(model != ofSlots);
      assertThat(Checkpoint.open(target).model()).contains(model);
    }
    try (Device device = Device.cpu(1, 1L << 26)) {
      Path old = folder.resolve("SLOTS");
      assertThatThrownBy(
              () -> Trainer.resume(device, old, ModelConfig.of(Type.FM, 8), options().epochs(1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("FEATURES");
      Trainer.resume(device, old, ofSlots, options().epochs(1)).close();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"FM", "DEEPFM"})
  void aPredictorGivesTheScoresOfEvaluation(Type type) {
    Batch train = PlantedRuns.planted(1, 3000);
    Batch test = PlantedRuns.planted(2, 300);
    Path target = folder.resolve("checkpoint");
    Metrics.Result evaluated;
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer =
            Trainer.create(
                device, PlantedRuns.encoder(train), ModelConfig.of(type, 4, 8), options())) {
      trainer.fit(Readers.inMemory(train));
      evaluated = trainer.evaluate(Readers.inMemory(test));
      trainer.save(target);
    }
    try (Predictor predictor = Predictor.open(target)) {
      float[] together = predictor.score(test);
      double loss = 0;
      for (int row = 0; row < together.length; row++) {
        Batch one = new Batch(test.schema(), 1);
        one.appendRow(test, row);
        assertThat(predictor.score(one)).containsExactly(together[row]);
        double p = together[row];
        loss -= Math.log(test.labels()[row] > 0 ? p : 1 - p) / together.length;
      }
      assertThat(evaluated.logLoss()).isCloseTo(loss, within(1e-5));
    }
  }
}
