package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.DeltaRuns;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.FileTier;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.metrics.Metrics;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole runs of a model whose target item and last items use one table. */
final class SharedTablesTrainingTest {
  private static final Batch TRAIN = rows(1, 4000);
  private static final Batch TEST = rows(2, 500);
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
  private static final IdEncoding IDS = new IdEncoding.Vocabulary(false, 1, 1 << 20);

  @TempDir private Path folder;

  /** The last items stand before the item. */
  private static Batch rows(long seed, int count) {
    Schema schema =
        new Schema(
            List.of("click"),
            List.of(),
            List.of(Slot.ragged("last"), Slot.oneHot("user"), Slot.oneHot("item")));
    Batch batch = new Batch(schema, count);
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < count; i++) {
      for (int k = random.nextInt(4); k > 0; k--) {
        batch.addId(0, 10 + random.nextInt(3000));
      }
      batch.addId(1, random.nextInt(50));
      batch.addId(2, random.nextInt(2000));
      batch.setLabel(0, random.nextInt(2));
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder encoder(Map<String, String> tables) {
    return FeatureEncoder.fit(
        Readers.inMemory(TRAIN),
        List.of(),
        List.of(IDS, IDS, IDS),
        tables,
        TextDictionary.none(),
        _ -> {});
  }

  private static FeatureEncoder encoder() {
    return encoder(Map.of("last", "item"));
  }

  @Test
  void equalValuesOfSlotsOfOneTableAreEqualIds() {
    FeatureEncoder encoder = FeatureEncoder.fromJson(encoder().toJson(), "test");
    assertThat(encoder.schema().tables()).containsExactly("user", "item");
    assertThat(encoder.toJson()).isEqualTo(encoder().toJson());
    // Values that occur as items alone, and among last items alone.
    long item = anyOf(2, id -> id < 10);
    long last = anyOf(0, id -> id >= 2000);
    Batch raw = new Batch(encoder.rawSchema(), 2);
    encoder.addRow(Map.of("last", List.of(item, last), "user", 1, "item", item), raw);
    encoder.addRow(Map.of("user", 1, "item", last), raw);
    Batch encoded = new Batch(encoder.schema(), 2);
    encoder.apply(raw, encoded);
    assertThat(encoded.ids(2)[0]).isEqualTo(encoded.ids(0)[0]).isPositive();
    assertThat(encoded.ids(2)[1]).isEqualTo(encoded.ids(0)[1]).isPositive();
    assertThat(encoder.idBound(0)).isEqualTo(encoder.idBound(2));
  }

  @Test
  void slotsThatShareATableInTheReadersSchemaDoSo() {
    Slot item = Slot.oneHot("item");
    Schema schema =
        new Schema(
            List.of("click"), List.of(), List.of(item, Slot.ragged("last").withTable("item")));
    Batch batch = new Batch(schema, 1);
    batch.addId(0, 7);
    batch.addId(1, 8);
    batch.endRow();
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(batch), List.of(), List.of(IDS, IDS), TextDictionary.none(), _ -> {});
    assertThat(encoder.schema().tables()).containsExactly("item");
  }

  private static long anyOf(int slot, LongPredicate which) {
    return Arrays.stream(TRAIN.ids(slot), 0, TRAIN.idCount(slot))
        .filter(which)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void tablesThatCannotBeSharedAreRefused() {
    requireRefused(
        Map.of("last", "shop"), "slot last: got the table of shop, expected the table of a slot");
    requireRefused(Map.of("shop", "item"), "got a table for slot shop, expected one of");
    requireRefused(Map.of("last", "item", "item", "user"), "slot last: got the table of item");
    assertThatThrownBy(() ->
            FeatureEncoder.fit(
                Readers.inMemory(TRAIN),
                List.of(),
                List.of(IdEncoding.verbatim(), IDS, IDS),
                Map.of("last", "item"),
                TextDictionary.none(),
                _ -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("slot last: got the encoding Verbatim");
  }

  private static void requireRefused(Map<String, String> tables, String message) {
    assertThatThrownBy(() -> encoder(tables))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f)).batch(64).epochs(2).shuffleRows(500);
  }

  private byte[] trained(TrainOptions options, int threads, String name) throws IOException {
    Path target = folder.resolve(name);
    try (Device device = Device.cpu(threads, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(), MODEL, options)) {
      trainer.fit(Readers.inMemory(TRAIN), Optional.of(Readers.inMemory(TEST)), _ -> {});
      trainer.save(target);
    }
    return PlantedRuns.contents(target);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRunIsTheSameOnAnyNumberOfThreadsStoppedOrNot(boolean counted) throws IOException {
    RowPolicy policy =
        counted ? RowPolicy.ALL.withAdmission(new Admission.ByCount(2, 10_000)) : RowPolicy.ALL;
    TrainOptions options = options().tables(t -> t.rows(policy));
    byte[] whole = trained(options, 1, "whole");
    assertThat(trained(options, 3, "threads")).isEqualTo(whole);
    assertThat(trained(options.tier(FileTier.of(folder, 1_000_000)), 2, "tier")).isEqualTo(whole);
    assertThat(folder.resolve("whole/tables/1.safetensors")).exists();
    assertThat(folder.resolve("whole/tables/2.safetensors")).doesNotExist();
    Path run = folder.resolve("run");
    TrainOptions kept = options.checkpoints(run, 0).deltas(DeltaRuns.everySteps(7, 4));
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(), MODEL, kept.reportEvery(1))) {
      trainer.fit(
          Readers.inMemory(TRAIN),
          Optional.of(Readers.inMemory(TEST)),
          report -> {
            if (report.step() == 50) {
              trainer.requestStop();
            }
          });
    }
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.resume(device, run, MODEL, kept)) {
      trainer.fit(Readers.inMemory(TRAIN), Optional.of(Readers.inMemory(TEST)), _ -> {});
      trainer.save(folder.resolve("resumed"));
    }
    assertThat(PlantedRuns.contents(folder.resolve("resumed"))).isEqualTo(whole);
  }

  @Test
  void aCheckpointScoresAsTheTrainerEvaluates() throws IOException {
    Path target = folder.resolve("saved");
    Metrics.Result expected;
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(), MODEL, options())) {
      trainer.fit(Readers.inMemory(TRAIN));
      expected = trainer.evaluate(Readers.inMemory(TEST));
      assertThat(trainer.network().tables().tables()).hasSize(2);
      trainer.save(target);
    }
    assertThat(Checkpoint.open(target).tables()).containsExactly("user", "item");
    Path sharded = folder.resolve("sharded");
    Checkpoint.open(target).reshard(sharded, 2);
    assertThat(Files.list(sharded.resolve("tables"))).hasSize(4);
    for (Path checkpoint : List.of(target, sharded)) {
      try (Predictor predictor = Predictor.open(checkpoint)) {
        float known = predictor.score(Map.of("last", List.of(1500), "user", 1, "item", 1500));
        float none = predictor.score(Map.of("last", List.of(), "user", 1, "item", 1500));
        assertThat(known).isBetween(0f, 1f).isNotEqualTo(none);
      }
    }
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.resume(device, target, MODEL, options())) {
      assertThat(trainer.evaluate(Readers.inMemory(TEST))).isEqualTo(expected);
    }
  }
}
