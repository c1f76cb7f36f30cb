package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.train.Progress;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Missing and unknown values of scored rows, and what is unlike training. */
final class ColumnCountsTest {
  private static final Schema SCHEMA =
      new Schema(
          List.of("y"),
          List.of("x", "z"),
          List.of(
              Slot.oneHot("city"), Slot.ragged("tags"), Slot.oneHot("user"), Slot.oneHot("ip")));

  @TempDir Path folder;

  /** Rows of ids below {@code most}, with values that are missing. */
  private static Batch rows(int count, int most, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Batch batch = new Batch(SCHEMA, count);
    for (int row = 0; row < count; row++) {
      batch.setLabel(0, row % 2);
      batch.setDense(0, row % 5 == 0 ? Float.NaN : row);
      batch.setDense(1, row);
      int city = random.nextInt(most);
      if (city % 7 == 0) {
        batch.addId(0, TextHash.EMPTY);
      } else if (city % 7 != 1) {
        batch.addId(0, TextHash.of("city " + city));
      }
      for (int tag = random.nextInt(4); tag > 0; tag--) {
        batch.addId(1, tag == 2 ? TextHash.EMPTY : TextHash.of("tag " + random.nextInt(most)));
      }
      if (row % 3 > 0) {
        batch.addId(2, random.nextInt(most));
      }
      batch.addId(3, random.nextInt(most));
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder encoder(Batch rows, long minCount) {
    IdEncoding text = new IdEncoding.Vocabulary(true, minCount, IdEncoding.Vocabulary.MAX_SIZE);
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(NumberEncoding.auto(), NumberEncoding.quantiles(4)),
        List.of(text, text, IdEncoding.verbatim(), new IdEncoding.Hashed(false, 1L << 50)),
        TextDictionary.none(),
        done -> {});
  }

  /** Raw ids of a slot with their counts. */
  private static Map<Long, Integer> ids(Batch rows, int slot) {
    Map<Long, Integer> counts = new HashMap<>();
    for (int i = 0; i < rows.idCount(slot); i++) {
      counts.merge(rows.ids(slot)[i], 1, Integer::sum);
    }
    return counts;
  }

  /** Counts as a plain loop over columns makes them. */
  private static List<ColumnCounts.Column> plain(Batch training, Batch rows, int minCount) {
    List<ColumnCounts.Column> columns = new ArrayList<>();
    int size = rows.size();
    for (int f = 0; f < 2; f++) {
      int missing = 0;
      for (int row = 0; row < size; row++) {
        missing += Float.isNaN(rows.dense()[2 * row + f]) ? 1 : 0;
      }
      columns.add(new ColumnCounts.Column(SCHEMA.dense().get(f), size, missing, 0, 0));
    }
    for (int s = 0; s < 4; s++) {
      Set<Long> known = new HashSet<>();
      int least = s < 2 ? minCount : 1;
      ids(training, s)
          .forEach((id, count) -> {
            if (count >= least) {
              known.add(id);
            }
          });
      int missing = 0;
      int values = 0;
      int unknown = 0;
      for (int row = 0; row < size; row++) {
        boolean some = false;
        for (int i = rows.offsets(s)[row]; i < rows.offsets(s)[row + 1]; i++) {
          long id = rows.ids(s)[i];
          if (s >= 2 || id != TextHash.EMPTY) {
            some = true;
            values++;
            unknown += known.contains(id) ? 0 : 1;
          }
        }
        missing += some ? 0 : 1;
      }
      columns.add(
          new ColumnCounts.Column(SCHEMA.slotNames().get(s), size, missing, values, unknown));
    }
    return columns;
  }

  @Test
  void evaluationsAndScoresCountAsAPlainLoopDoes() {
    Batch training = rows(400, 60, 1);
    Batch others = rows(700, 90, 2);
    for (int minCount : new int[] {1, 3}) {
      Path target = folder.resolve("least-" + minCount);
      List<ColumnCounts> evaluated = new ArrayList<>();
      TrainOptions options = TrainOptions.of(Optimizer.adam(0.01f)).batch(64);
      ModelConfig model = ModelConfig.of(ModelConfig.Type.FM, 2);
      try (Device device = Device.cpu(2, 1L << 26);
          Trainer trainer = Trainer.create(device, encoder(training, minCount), model, options)) {
        Optional<dev.tern.data.DataReader> eval = Optional.of(Readers.inMemory(others));
        trainer.fit(
            Readers.inMemory(training),
            eval,
            progress -> {
              assertThat(progress.columns().isPresent())
                  .isEqualTo(progress.split() == Progress.Split.EVAL);
              progress.columns().ifPresent(evaluated::add);
            });
        trainer.save(target);
      }
      List<ColumnCounts.Column> expected = plain(training, others, minCount);
      assertThat(evaluated).hasSize(1);
      assertThat(evaluated.getFirst().columns()).isEqualTo(expected);
      try (Predictor predictor = Predictor.open(target)) {
        ColumnCounts counts = new ColumnCounts(predictor.encoder());
        assertThat(predictor.score(others, counts)).isEqualTo(predictor.score(others));
        assertThat(counts.columns()).isEqualTo(expected);
        assertThat(counts.rows()).isEqualTo(700);
      }
    }
  }

  /** Rows with one city each, of which the first {@code unknown} are unknown, or have none. */
  private static ColumnCounts scored(FeatureEncoder encoder, int rows, int unknown, int missing) {
    ColumnCounts counts = new ColumnCounts(encoder);
    Batch batch = new Batch(encoder.rawSchema(), 1000);
    for (int row = 0; row < rows; row++) {
      batch.addId(0, row < missing ? TextHash.EMPTY : TextHash.of("16"));
      batch.endRow();
    }
    counts.add(batch);
    for (int i = 0; i < unknown; i++) {
      counts.addUnknown(0, -1 - i);
    }
    return counts;
  }

  /** An encoder of 1,000 cities, of which some are rare and some missing. */
  private static FeatureEncoder cities(int rare, int missing) {
    TextDictionary texts = new TextDictionary();
    texts.saw(TextHash.of("16"), new byte[] {'1', '6'}, 0, 2);
    Schema schema = new Schema(List.of(), List.of(), List.of(Slot.oneHot("city")));
    Batch batch = new Batch(schema, 1000);
    for (int row = 0; row < 1000; row++) {
      String city = row < rare ? "rare " + row : "16";
      batch.addId(0, row >= 1000 - missing ? TextHash.EMPTY : TextHash.of(city));
      batch.endRow();
    }
    IdEncoding encoding = new IdEncoding.Vocabulary(true, 2, 100);
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(batch), List.of(), List.of(encoding), texts, done -> {});
    return FeatureEncoder.fromJson(encoder.toJson(), "encoders.json");
  }

  @Test
  void aColumnOfUnknownValuesIsNamed() {
    assertThat(scored(cities(0, 0), 5000, 5000, 0).warnings())
        .containsExactly(
            "city: 100% of 5,000 values are unknown to the model; check that they are written as in"
                + " training, such as \"16\" in training");
  }

  @Test
  void unknownValuesWarnAboveOneFifthWhereTrainingHadFarFewer() {
    assertThat(scored(cities(0, 0), 1000, 201, 0).warnings()).hasSize(1);
    assertThat(scored(cities(0, 0), 1000, 200, 0).warnings()).isEmpty();
    assertThat(scored(cities(90, 0), 1000, 400, 0).warnings()).hasSize(1);
    assertThat(scored(cities(110, 0), 1000, 400, 0).warnings()).isEmpty();
    assertThat(scored(cities(500, 0), 1000, 901, 0).warnings()).hasSize(1);
    assertThat(scored(cities(500, 0), 1000, 900, 0).warnings()).isEmpty();
  }

  @Test
  void missingValuesWarnAboveOneFifthWhereTrainingHadFarFewer() {
    assertThat(scored(cities(0, 0), 1000, 0, 300).warnings())
        .containsExactly(
            "city: 30.0% of 1,000 rows have no value, in training 0.00% had none; check the column"
                + " in the files");
    assertThat(scored(cities(0, 0), 1000, 0, 200).warnings()).isEmpty();
    assertThat(scored(cities(0, 80), 1000, 0, 300).warnings()).isEmpty();
    assertThat(scored(cities(0, 999), 1000, 0, 1000).warnings()).isEmpty();
  }

  @Test
  void noRowsWarnOfNothing() {
    assertThat(scored(cities(0, 0), 0, 0, 0).warnings()).isEmpty();
  }

  @Test
  void anEncoderOfAnOlderCheckpointCountsUnknownValuesByTheirIdZero() {
    FeatureEncoder old =
        FeatureEncoder.fromJson(
            cities(0, 0).toJson().replace("\"unknown\":\"apart\",", ""), "encoders.json");
    Batch batch = new Batch(old.rawSchema(), 3);
    for (String city : new String[] {"16", "16.0", ""}) {
      batch.addId(0, TextHash.of(city));
      batch.endRow();
    }
    ColumnCounts counts = new ColumnCounts(old);
    counts.add(batch);
    assertThat(counts.columns()).containsExactly(new ColumnCounts.Column("city", 3, 1, 2, 1));
  }

  @Test
  void trainingFactsComeBackFromJson() {
    FeatureEncoder encoder = encoder(rows(300, 90, 3), 4);
    TrainingFacts facts = encoder.training().orElseThrow();
    assertThat(facts.rows()).isEqualTo(300);
    assertThat(facts.column("x").orElseThrow().missing()).isEqualTo(60);
    assertThat(facts.column("city").orElseThrow().unknown()).isBetween(0.01, 0.99);
    assertThat(facts.column("nothing")).isEmpty();
    FeatureEncoder read = FeatureEncoder.fromJson(encoder.toJson(), "encoders.json");
    assertThat(read.toJson()).isEqualTo(encoder.toJson());
    assertThat(read.training()).contains(facts);
    assertThat(read.encodesIdsAs(encoder)).isTrue();
  }
}
