package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.ir.Pointwise;
import dev.tern.metrics.Metrics;
import dev.tern.model.ModelConfig;
import dev.tern.model.Scorer;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Scores of a saved model beside those of the trainer that saved it. */
final class PredictorTest {
  private static final Schema SCHEMA =
      new Schema(
          List.of("click"),
          List.of("age", "price"),
          List.of(Slot.oneHot("site"), Slot.ragged("tags")));
  private static final Batch TRAIN = rows(1, 500, 30);

  /** Of ids up to 60, of which training has seen half. */
  static final Batch HELD = rows(2, 700, 60);

  @TempDir Path folder;

  private static Batch rows(long seed, int count, int ids) {
    Batch batch = new Batch(SCHEMA, count);
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      batch.setDense(0, random.nextFloat(-3, 3));
      batch.setDense(1, i % 10 == 0 ? Float.NaN : random.nextFloat());
      int site = random.nextInt(ids);
      batch.addId(0, site);
      for (int t = random.nextInt(4); t > 0; t--) {
        batch.addId(1, random.nextLong(ids));
      }
      batch.setLabel(0, (site + random.nextInt(3)) % 2);
      batch.endRow();
    }
    return batch;
  }

  static Map<String, Object> row(Batch batch, int row) {
    Map<String, Object> columns = new HashMap<>();
    columns.put("age", batch.dense()[2 * row]);
    if (!Float.isNaN(batch.dense()[2 * row + 1])) {
      columns.put("price", batch.dense()[2 * row + 1]);
    }
    columns.put("site", batch.ids(0)[row]);
    List<Long> tags = new ArrayList<>();
    for (int i = batch.offsets(1)[row]; i < batch.offsets(1)[row + 1]; i++) {
      tags.add(batch.ids(1)[i]);
    }
    columns.put("tags", tags);
    return columns;
  }

  private static FeatureEncoder encoder() {
    return FeatureEncoder.fit(
        Readers.inMemory(TRAIN),
        List.of(NumberEncoding.standardize(), NumberEncoding.log1p()),
        List.of(IdEncoding.verbatim(), IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  private static Trainer trained(Device device, ModelConfig.Type type, UnknownRow unknown) {
    ModelConfig model =
        ModelConfig.of(type, 5, 17, 9).withDropout(0.2f).withBottom(7).withCrossLayers(2);
    TrainOptions options =
        TrainOptions.of(Optimizer.adam(0.01f)).batch(100).epochs(2).tables(t -> t.unknown(unknown));
    Trainer trainer = Trainer.create(device, encoder(), model, options);
    trainer.fit(Readers.inMemory(TRAIN));
    return trainer;
  }

  private Path saved(ModelConfig.Type type, UnknownRow unknown) {
    return saved(folder, type, unknown);
  }

  /** A checkpoint in a folder. */
  static Path saved(Path folder, ModelConfig.Type type, UnknownRow unknown) {
    Path checkpoint = folder.resolve(type + "-" + unknown);
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = trained(device, type, unknown)) {
      trainer.save(checkpoint);
    }
    return checkpoint;
  }

  /** Probabilities by the trainer's own scorer, {@code capacity} rows at a time. */
  private static float[] scores(Trainer trainer, int capacity) {
    float[] scores = new float[HELD.size()];
    Batch piece = new Batch(SCHEMA, capacity);
    Batch encoded = new Batch(SCHEMA, capacity);
    try (Scorer scorer = new Scorer(trainer.network(), capacity)) {
      for (int from = 0; from < scores.length; from += capacity) {
        piece.clear();
        piece.appendRows(HELD, from, Math.min(scores.length, from + capacity));
        encoder().apply(piece, encoded);
        scorer.logits(encoded, scores, from);
      }
    }
    for (int i = 0; i < scores.length; i++) {
      scores[i] = Pointwise.sigmoid(scores[i]);
    }
    return scores;
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"ESMM", "DIN", "DIEN", "BST", "SASREC", "HSTU", "NEUMF", "GMF", "TWOTOWER"})
  void scoresAreTheTrainersToTheBitInPiecesOfAnySize(ModelConfig.Type type) {
    Path checkpoint = folder.resolve("saved");
    float[] expected;
    Metrics.Result evaluated;
    try (Device device = Device.cpu(2, 1L << 26);
        Trainer trainer = trained(device, type, UnknownRow.MEAN)) {
      trainer.save(checkpoint);
      expected = scores(trainer, 100);
      Metrics metrics = new Metrics();
      metrics.addProbabilities(expected, HELD.labels(), expected.length);
      evaluated = trainer.evaluate(Readers.inMemory(HELD));
      assertThat(evaluated.rows()).isEqualTo(HELD.size());
      assertThat(evaluated.logLoss()).isCloseTo(metrics.result().logLoss(), within(1e-6));
      assertThat(scores(trainer, 700)).isEqualTo(expected);
    }
    try (Predictor predictor = Predictor.open(checkpoint)) {
      assertThat(predictor.score(HELD)).isEqualTo(expected);
      float[] logits = new float[HELD.size()];
      predictor.logits(HELD, logits);
      Metrics fromLogits = new Metrics();
      fromLogits.addLogits(logits, HELD.labels(), logits.length);
      assertThat(fromLogits.result()).isEqualTo(evaluated);
      for (int i = 0; i < HELD.size(); i += 7) {
        assertThat(predictor.score(row(HELD, i))).as("row %d", i).isEqualTo(expected[i]);
      }
      for (int count : new int[] {0, 1, 2, 5, 16, 17, 61, 257, 258, 259}) {
        Batch first = new Batch(SCHEMA, Math.max(1, count));
        first.appendRows(HELD, 0, count);
        assertThat(predictor.score(first)).isEqualTo(Arrays.copyOf(expected, count));
      }
    }
  }

  @Test
  void rowsOf8BitsTakeLessMemoryAndScoreNearlyTheSame() {
    Path checkpoint = folder.resolve("saved");
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 16, 8);
    TrainOptions options =
        TrainOptions.of(Optimizer.adam(0.01f))
            .batch(100)
            .epochs(1)
            .tables(t -> t.unknown(UnknownRow.MEAN));
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.create(device, encoder(), model, options)) {
      trainer.fit(Readers.inMemory(rows(5, 4000, 20_000)));
      trainer.save(checkpoint);
    }
    try (Predictor stored = Predictor.open(checkpoint);
        Predictor narrow =
            Predictor.open(checkpoint, ScoreOptions.DEFAULT.withTables(RowFormat.INT8))) {
      assertThat(narrow.tableBytes()).isPositive().isLessThan(stored.tableBytes() / 2);
      float[] expected = stored.score(HELD);
      float[] scores = narrow.score(HELD);
      for (int i = 0; i < expected.length; i++) {
        assertThat(scores[i]).as("row %d", i).isCloseTo(expected[i], within(0.01f));
      }
      assertThat(scores).isNotEqualTo(expected);
      assertThat(narrow.score(row(HELD, 3))).isEqualTo(scores[3]);
    }
  }

  @Test
  void manyThreadsAtOnceGetTheScoresOfOne() throws Exception {
    int threads = 8;
    Path checkpoint = saved(ModelConfig.Type.DLRM, UnknownRow.MEAN);
    try (Predictor predictor = Predictor.open(checkpoint);
        ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      float[] expected;
      try (Predictor alone = Predictor.open(checkpoint)) {
        expected = alone.score(HELD);
      }
      List<Future<?>> running = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int first = t;
        running.add(
            pool.submit(() -> {
              for (int round = 0; round < 5; round++) {
                assertThat(predictor.score(HELD)).isEqualTo(expected);
                for (int i = first; i < HELD.size(); i += 29) {
                  assertThat(predictor.score(row(HELD, i))).isEqualTo(expected[i]);
                }
              }
            }));
      }
      for (Future<?> one : running) {
        one.get();
      }
    }
  }

  @Test
  void threadsThatShareACallGiveTheScoresAndCountsOfOne() {
    Path checkpoint = saved(ModelConfig.Type.DEEPFM, UnknownRow.MEAN);
    try (Predictor alone = Predictor.open(checkpoint)) {
      float[] expected = alone.score(HELD);
      ColumnCounts counts = new ColumnCounts(alone.encoder());
      assertThat(alone.score(HELD, counts)).isEqualTo(expected);
      for (int threads = 2; threads <= 5; threads++) {
        ScoreOptions options = ScoreOptions.DEFAULT.withThreads(threads);
        try (Predictor together = Predictor.open(checkpoint, options)) {
          ColumnCounts others = new ColumnCounts(together.encoder());
          assertThat(together.score(HELD, others)).isEqualTo(expected);
          assertThat(others.columns()).isEqualTo(counts.columns());
          for (int count : new int[] {1, 47, 48, 49, 100}) {
            Batch first = new Batch(SCHEMA, count);
            first.appendRows(HELD, 0, count);
            assertThat(together.score(first)).isEqualTo(Arrays.copyOf(expected, count));
          }
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void anErrorNamesTheRowOfTheCallersBatch(int threads) {
    Batch rows = rows(5, 600, 30);
    rows.dense()[2 * 399] = Float.POSITIVE_INFINITY;
    ScoreOptions options = ScoreOptions.DEFAULT.withThreads(threads);
    Path checkpoint = saved(ModelConfig.Type.FM, UnknownRow.ZEROS);
    try (Predictor predictor = Predictor.open(checkpoint, options)) {
      assertThatThrownBy(() -> predictor.score(rows))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("age: got Infinity in row 400 of this batch");
      rows.dense()[2 * 399] = 1;
      assertThat(predictor.score(rows)).hasSize(600);
    }
  }

  @Test
  void warmingUpChangesNoScore() {
    Path checkpoint = saved(ModelConfig.Type.DCNV2, UnknownRow.INITIAL);
    try (Predictor cold = Predictor.open(checkpoint);
        Predictor warm = Predictor.open(checkpoint, ScoreOptions.DEFAULT.withThreads(2))) {
      warm.warmUp();
      assertThat(warm.score(HELD)).isEqualTo(cold.score(HELD));
      warm.warmUp();
      assertThat(warm.score(row(HELD, 3))).isEqualTo(cold.score(row(HELD, 3)));
    }
  }

  @Test
  void callsAfterCloseAreRefused() {
    Predictor predictor = Predictor.open(saved(ModelConfig.Type.LR, UnknownRow.ZEROS));
    predictor.close();
    assertThatThrownBy(() -> predictor.score(HELD))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("got a call after close");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1025})
  void numbersOfThreadsOutOfRangeAreRefused(int threads) {
    assertThatThrownBy(() -> ScoreOptions.DEFAULT.withThreads(threads))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("threads: got " + threads + ", expected 1 to 1024");
  }

  @ParameterizedTest
  @EnumSource(UnknownRow.Derived.class)
  void scoringInsertsNoRowAndDoesNotChangeScores(UnknownRow unknown) {
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = trained(device, ModelConfig.Type.DEEPFM, unknown)) {
      long rows = trainer.network().tables().rows();
      float[] before = scores(trainer, 64);
      trainer.evaluate(Readers.inMemory(HELD));
      assertThat(trainer.network().tables().rows()).isEqualTo(rows).isPositive();
      assertThat(scores(trainer, 64)).isEqualTo(before);
      Path checkpoint = folder.resolve("saved");
      trainer.save(checkpoint);
      try (Predictor predictor = Predictor.open(checkpoint)) {
        assertThat(predictor.score(HELD)).isEqualTo(before);
        assertThat(predictor.score(HELD)).isEqualTo(before);
      }
    }
  }

  @Test
  void unknownIdsScoreAsTheRowTheModelWasToldToUse() {
    Map<String, Object> unseen = Map.of("age", 1, "price", 0.5, "site", 1L << 40);
    Map<String, Object> other = Map.of("age", 1, "price", 0.5, "site", -5L);
    Map<UnknownRow, Float> scores = new HashMap<>();
    for (UnknownRow unknown : UnknownRow.Derived.values()) {
      try (Predictor predictor = Predictor.open(saved(ModelConfig.Type.LR, unknown))) {
        scores.put(unknown, predictor.score(unseen));
        boolean same = predictor.score(other) == predictor.score(unseen);
        assertThat(same).as("%s", unknown).isEqualTo(unknown != UnknownRow.INITIAL);
      }
    }
    assertThat(scores.values()).doesNotHaveDuplicates();
  }

  @Test
  void aColumnThatTheModelDoesNotKnowIsNamed() {
    try (Predictor predictor = Predictor.open(saved(ModelConfig.Type.LR, UnknownRow.ZEROS))) {
      assertThatThrownBy(() -> predictor.score(Map.of("age", 1, "sites", 3)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("column sites")
          .hasMessageContaining("[age, price]")
          .hasMessageContaining("[site, tags]");
      assertThatThrownBy(() -> predictor.score(Map.of("age", "old", "site", 3)))
          .hasMessageContaining("column age: got old of type String, expected a number");
      // A refused row leaves nothing behind.
      Map<String, Object> good = row(HELD, 3);
      assertThat(predictor.score(good)).isEqualTo(predictor.score(HELD)[3]);
    }
  }

  @Test
  void rowsWithoutLabelsScoreAsThoseWithLabels() {
    Batch bare = new Batch(new Schema(List.of(), SCHEMA.dense(), SCHEMA.slots()), HELD.size());
    for (int row = 0; row < HELD.size(); row++) {
      bare.setDense(0, HELD.dense()[2 * row]);
      bare.setDense(1, HELD.dense()[2 * row + 1]);
      for (int slot = 0; slot < 2; slot++) {
        for (int i = HELD.offsets(slot)[row]; i < HELD.offsets(slot)[row + 1]; i++) {
          bare.addId(slot, HELD.ids(slot)[i]);
        }
      }
      bare.endRow();
    }
    try (Predictor predictor = Predictor.open(saved(ModelConfig.Type.FM, UnknownRow.ZEROS))) {
      assertThat(predictor.score(bare)).isEqualTo(predictor.score(HELD));
    }
  }

  @Test
  void rowsOfAnotherSchemaAndTooSmallResultsAreRefused() {
    try (Predictor predictor = Predictor.open(saved(ModelConfig.Type.LR, UnknownRow.ZEROS))) {
      assertThat(predictor.schema()).isEqualTo(SCHEMA);
      Schema other = new Schema(List.of("click"), List.of("age"), SCHEMA.slots());
      Batch wrong = new Batch(other, 1);
      wrong.setDense(0, 1);
      wrong.addId(0, 1);
      wrong.endRow();
      assertThatThrownBy(() -> predictor.score(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("numbers [age], slots [site, tags], expected");
      assertThatThrownBy(() -> predictor.score(HELD, new float[HELD.size() - 1]))
          .hasMessage("score: got room for 699 results, expected 700");
    }
  }

  @Test
  void aCallAfterCloseIsAnError() {
    Predictor predictor = Predictor.open(saved(ModelConfig.Type.LR, UnknownRow.ZEROS));
    predictor.close();
    assertThatThrownBy(() -> predictor.score(Map.of("age", 1, "site", 3)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("after close");
  }
}
