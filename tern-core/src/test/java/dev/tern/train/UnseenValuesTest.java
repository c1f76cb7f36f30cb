package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.FileTier;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs whose vocabularies leave values out: unseen and rare ones are no missing ones. */
final class UnseenValuesTest {
  private static final Schema SCHEMA =
      new Schema(List.of("click"), List.of("x"), List.of(Slot.oneHot("city"), Slot.ragged("tags")));
  private static final ModelConfig LINEAR = ModelConfig.of(ModelConfig.Type.LR, 1);
  private static final ModelConfig FM = ModelConfig.of(ModelConfig.Type.FM, 4);

  @TempDir Path folder;

  /** 600 rows; a missing city is clicked, and 1 row in 5 has a city of its own, with a prefix. */
  private static Batch rows(String rare) {
    Batch rows = new Batch(SCHEMA, 600);
    SplittableRandom random = new SplittableRandom(4);
    for (int row = 0; row < 600; row++) {
      int kind = random.nextInt(5);
      rows.setLabel(0, kind == 0 || kind == 1 && random.nextBoolean() ? 1 : 0);
      rows.setDense(0, 0);
      if (kind > 0) {
        rows.addId(0, TextHash.of(kind == 1 ? rare + row : "city " + kind));
      }
      for (int i = random.nextInt(3); i > 0; i--) {
        rows.addId(1, TextHash.of("tag " + random.nextInt(5)));
      }
      rows.endRow();
    }
    return rows;
  }

  private static FeatureEncoder encoder(Batch rows, long minCount) {
    IdEncoding ids = new IdEncoding.Vocabulary(true, minCount, IdEncoding.Vocabulary.MAX_SIZE);
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(NumberEncoding.none()),
        List.of(ids, ids),
        TextDictionary.none(),
        done -> {});
  }

  private static TrainOptions options(UnknownRow unknown) {
    return TrainOptions.of(Optimizer.lazyAdam(0.05f))
        .batch(50)
        .epochs(6)
        .tables(t -> t.unknown(unknown));
  }

  private Path trained(Batch rows, long minCount, ModelConfig model, TrainOptions options) {
    Path target = folder.resolve("checkpoint");
    try (Device device = Device.cpu(2, 1L << 26);
        Trainer trainer = Trainer.create(device, encoder(rows, minCount), model, options)) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(target);
      trainer
          .network()
          .tables()
          .tables()
          .forEach(table ->
              table.exportTo((ids, values, count) -> {
                for (int i = 0; i < count; i++) {
                  assertThat(ids[i]).as("ids with a row").isNotNegative();
                }
              }));
    }
    return target;
  }

  @Test
  void aMissingValueScoresByItsOwnRowAndAnUnseenOneByTheBiasAlone() {
    try (Predictor predictor =
        Predictor.open(trained(rows("rare "), 1, LINEAR, options(UnknownRow.ZEROS)))) {
      float missing = predictor.score(Map.of("x", 0));
      float empty = predictor.score(Map.of("x", 0, "city", ""));
      float bias = predictor.score(Map.of("x", 0, "city", "never seen"));
      assertThat(missing).isGreaterThan(0.85f).isEqualTo(empty);
      assertThat(bias).isLessThan(0.7f);
      for (String city : List.of("CITY 2", "city 2 ", "?", "city 99")) {
        assertThat(predictor.score(Map.of("x", 0, "city", city))).as(city).isEqualTo(bias);
      }
      assertThat(predictor.score(Map.of("x", 0, "city", "never seen", "tags", List.of("new", ""))))
          .isEqualTo(bias);
    }
  }

  @Test
  void unseenValuesReadTheirInitialRowWhereTheModelSaysSo() {
    Batch rows = rows("rare ");
    List<Float> scores = new ArrayList<>();
    for (UnknownRow unknown : List.of(UnknownRow.ZEROS, UnknownRow.INITIAL, UnknownRow.MEAN)) {
      try (Predictor predictor = Predictor.open(trained(rows, 2, FM, options(unknown)))) {
        scores.add(predictor.score(Map.of("x", 0, "city", "new", "tags", "tag 1")));
        scores.add(predictor.score(Map.of("x", 0, "city", "newer", "tags", "tag 1")));
      }
    }
    assertThat(scores.get(0)).isEqualTo(scores.get(1));
    assertThat(scores.get(2)).isNotEqualTo(scores.get(3));
    assertThat(scores.get(4)).isEqualTo(scores.get(5)).isNotEqualTo(scores.get(0));
  }

  /** With zeros for unknown rows it makes no difference which rare values rows have. */
  @Test
  void rareValuesChangeNoWeight() throws IOException {
    byte[] one = PlantedRuns.contents(trained(rows("rare "), 2, FM, options(UnknownRow.ZEROS)));
    byte[] other = PlantedRuns.contents(trained(rows("other "), 2, FM, options(UnknownRow.ZEROS)));
    assertThat(other).isEqualTo(one);
  }

  /** A row policy and a file keep out what a vocabulary leaves out. */
  static List<TrainOptions> rules() {
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(2, 100));
    RowPolicy full = RowPolicy.ALL.withMaxRows(3, WhenFull.UNKNOWN);
    UnknownRow buckets = new UnknownRow.Hashed(3);
    return List.of(
        options(buckets),
        options(UnknownRow.INITIAL).tables(t -> t.rows(counted)),
        options(buckets).tables(t -> t.rows(full)),
        options(UnknownRow.MEAN).tables(t -> t.rows(full)));
  }

  @ParameterizedTest
  @MethodSource("rules")
  void rareValuesGetNoRowUnderAnyRule(TrainOptions options) throws IOException {
    Batch rows = rows("rare ");
    byte[] whole = PlantedRuns.contents(trained(rows, 2, FM, options));
    Path resumed = folder.resolve("resumed");
    Path half = trained(rows, 2, FM, options.epochs(3));
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.resume(device, half, FM, options)) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(resumed);
    }
    assertThat(PlantedRuns.contents(resumed)).isEqualTo(whole);
  }

  @Test
  void rareValuesGetNoRowInAFile() throws IOException {
    TrainOptions options = options(UnknownRow.ZEROS);
    Batch rows = rows("rare ");
    byte[] memory = PlantedRuns.contents(trained(rows, 2, FM, options));
    byte[] file =
        PlantedRuns.contents(trained(rows, 2, FM, options.tier(FileTier.of(folder, 1L << 24))));
    assertThat(file).isEqualTo(memory);
  }

  @Test
  void aBucketOfRareValuesIsForUnseenOnesToo() {
    TrainOptions options = options(new UnknownRow.Hashed(1));
    try (Predictor predictor = Predictor.open(trained(rows("rare "), 2, LINEAR, options))) {
      float rare = predictor.score(Map.of("x", 0, "city", "rare 3"));
      assertThat(predictor.score(Map.of("x", 0, "city", "new"))).isEqualTo(rare);
      assertThat(rare).isBetween(0.35f, 0.65f);
    }
    assertThatThrownBy(() -> trained(rows("rare "), 1, LINEAR, options))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("buckets would learn nothing; give a vocabulary a least count");
  }
}
