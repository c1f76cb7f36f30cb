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
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.config.Combiner;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelConfig.Pairs;
import dev.tern.model.ModelConfig.Type;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Numbers with vectors in models: what is learned, how they pool, what a checkpoint keeps. */
final class NumberVectorTrainingTest {
  private static final Schema SCHEMA =
      new Schema(List.of("y"), List.of("x"), List.of(Slot.oneHot("c")));

  @TempDir Path folder;

  /** Rows labelled 1 mostly where the number is near 0, on either side. */
  private static Batch rows(long seed, int count) {
    Batch rows = new Batch(SCHEMA, count);
    SplittableRandom random = new SplittableRandom(seed);
    for (int row = 0; row < count; row++) {
      float x = (float) random.nextDouble(-3, 3);
      rows.setDense(0, row % 20 == 0 ? Float.NaN : x);
      rows.addId(0, random.nextInt(5));
      double logit = row % 20 == 0 ? 2 : 4 - 4 * Math.abs(x);
      rows.setLabel(0, random.nextDouble() < 1 / (1 + Math.exp(-logit)) ? 1 : 0);
      rows.endRow();
    }
    return rows;
  }

  private static FeatureEncoder encoder(Batch rows, NumberEncoding number) {
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(number),
        List.of(IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.02f)).batch(128).epochs(4).shuffleRows(1000);
  }

  private double auc(ModelConfig model, NumberEncoding number) {
    Batch rows = rows(1, 4000);
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(rows, number), model, options())) {
      trainer.fit(Readers.inMemory(rows));
      return trainer.evaluate(Readers.inMemory(rows(2, 2000))).auc();
    }
  }

  @Test
  void whatNoLineOfTheNumberTellsIsLearnedFromPiecesAndBuckets() {
    ModelConfig linear = ModelConfig.of(Type.LR, 1);
    assertThat(auc(linear, NumberEncoding.standardize())).isLessThan(0.65);
    assertThat(auc(linear, new NumberEncoding.Field(NumberEncoding.standardize())))
        .isLessThan(0.65);
    assertThat(auc(linear, NumberEncoding.pieces(8))).isGreaterThan(0.85);
    assertThat(auc(linear, NumberEncoding.quantiles(8))).isGreaterThan(0.85);
    assertThat(
            auc(
                linear,
                new NumberEncoding.Beside(NumberEncoding.standardize(), NumberEncoding.pieces(8))))
        .isGreaterThan(0.85);
  }

  /** The first float of each row of a table by id. */
  private static Map<Long, Float> firstFloats(EmbeddingTable table) {
    Map<Long, Float> first = new HashMap<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, values, count) -> {
      for (int i = 0; i < count; i++) {
        first.put(ids[i], values.getAtIndex(ValueLayout.JAVA_FLOAT, (long) i * floats));
      }
    });
    return first;
  }

  @ParameterizedTest
  @EnumSource(Combiner.class)
  void aLinearModelOfPiecesIsTheirSumWhateverCombinesOtherSlots(Combiner combiner) {
    NumberEncoding pieces = new NumberEncoding.PiecesBetween(List.of(-3f, -1f, 1f, 3f));
    Batch rows = rows(1, 1000);
    Path saved = folder.resolve("saved");
    Map<Long, Float> numbers;
    Map<Long, Float> categories;
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(
                device,
                encoder(rows, pieces),
                ModelConfig.of(Type.LR, 1),
                options().tables(t -> t.combiner(combiner)))) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(saved);
      List<EmbeddingTable> tables = trainer.network().tables().tables();
      categories = firstFloats(tables.get(0));
      numbers = firstFloats(tables.get(1));
    }
    assertThat(numbers.keySet()).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L);
    try (Predictor predictor = Predictor.open(saved)) {
      float bias = (float) logit(predictor, Map.of("c", 99)) - numbers.get(0L);
      double half = numbers.get(1L) + numbers.get(2L) + 0.5 * numbers.get(3L);
      assertThat(logit(predictor, Map.of("x", 0f, "c", 99)) - bias).isCloseTo(half, within(1e-4));
      double both = half + categories.get(3L);
      assertThat(logit(predictor, Map.of("x", 0f, "c", 3)) - bias).isCloseTo(both, within(1e-4));
      double all = numbers.get(1L) + numbers.get(2L) + numbers.get(3L) + numbers.get(4L);
      assertThat(logit(predictor, Map.of("x", 1e9f, "c", 99)) - bias).isCloseTo(all, within(1e-4));
    }
  }

  private static double logit(Predictor predictor, Map<String, ?> row) {
    double score = predictor.scores(row)[0];
    return Math.log(score / (1 - score));
  }

  private byte[] trained(Type type, Pairs pairs, NumberEncoding number) throws IOException {
    Batch rows = rows(1, 1000);
    Path saved = folder.resolve(type + "-" + pairs);
    ModelConfig model = ModelConfig.of(type, 5, 8).withPairs(pairs);
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(device, encoder(rows, number), model, options().epochs(1))) {
      trainer.fit(Readers.inMemory(rows));
      return logits(trainer, rows, saved);
    }
  }

  private static byte[] logits(Trainer trainer, Batch rows, Path saved) {
    trainer.save(saved);
    try (Predictor predictor = Predictor.open(saved)) {
      float[] logits = new float[rows.size()];
      predictor.logits(rows, logits);
      ByteBuffer bytes = ByteBuffer.allocate(4 * logits.length);
      bytes.asFloatBuffer().put(logits);
      return bytes.array();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"FM", "DEEPFM"})
  void thePiecesOfANumberAreNoPairs(Type type) throws IOException {
    NumberEncoding pieces = NumberEncoding.pieces(4);
    assertThat(trained(type, Pairs.FEATURES, pieces)).isEqualTo(trained(type, Pairs.SLOTS, pieces));
  }

  @ParameterizedTest
  @EnumSource(names = {"FM", "DEEPFM"})
  void pairsWithinOtherSlotsStayBesideNumbers(Type type) {
    Schema schema =
        new Schema(List.of("y"), List.of("x"), List.of(Slot.ragged("a"), Slot.ragged("b")));
    Batch rows = new Batch(schema, 3000);
    SplittableRandom random = new SplittableRandom(5);
    for (int row = 0; row < 3000; row++) {
      int a = random.nextInt(2);
      int b = random.nextInt(2);
      rows.setLabel(0, a ^ b);
      rows.setDense(0, (float) random.nextDouble());
      rows.addId(0, 1 + a);
      rows.addId(0, 3 + b);
      rows.addId(1, random.nextInt(3));
      rows.endRow();
    }
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(rows),
            List.of(NumberEncoding.pieces(3)),
            List.of(IdEncoding.verbatim(), IdEncoding.verbatim()),
            TextDictionary.none(),
            read -> {});
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(device, encoder, ModelConfig.of(type, 8, 8), options().epochs(6))) {
      trainer.fit(Readers.inMemory(rows));
      assertThat(trainer.evaluate(Readers.inMemory(rows)).auc()).isGreaterThan(0.95);
    }
  }

  @Test
  void aWarmStartKeepsTheRowsOfANumberWhoseSlotStays() {
    Batch first = rows(1, 1000);
    Path saved = folder.resolve("saved");
    NumberEncoding pieces =
        new NumberEncoding.Beside(NumberEncoding.standardize(), NumberEncoding.pieces(4));
    ModelConfig model = ModelConfig.of(Type.WDL, 4, 8);
    try (Device device = Device.cpu(1, 1L << 27)) {
      Map<Long, Float> before;
      try (Trainer trainer = Trainer.create(device, encoder(first, pieces), model, options())) {
        trainer.fit(Readers.inMemory(first));
        trainer.save(saved);
        before = firstFloats(trainer.network().tables().tables().get(1));
      }
      Checkpoint checkpoint = Checkpoint.open(saved);
      FeatureEncoder grown = grown(checkpoint, pieces);
      try (Trainer trainer = Trainer.warmStart(device, checkpoint, grown, model, options())) {
        assertThat(firstFloats(trainer.network().tables().tables().get(1))).isEqualTo(before);
        assertThat(trainer.fresh()).isEmpty();
      }
      NumberEncoding more =
          new NumberEncoding.Beside(NumberEncoding.standardize(), NumberEncoding.pieces(9));
      try (Trainer trainer =
          Trainer.warmStart(device, checkpoint, grown(checkpoint, more), model, options())) {
        assertThat(trainer.network().tables().tables().get(1).size()).isZero();
        assertThat(trainer.fresh()).contains("table x");
      }
    }
  }

  private static FeatureEncoder grown(Checkpoint checkpoint, NumberEncoding number) {
    return checkpoint
        .encoder()
        .grown(
            Readers.inMemory(rows(3, 500)),
            List.of(number),
            List.of(IdEncoding.verbatim()),
            Map.of(),
            TextDictionary.none(),
            read -> {});
  }

  @Test
  void aNumberAmongTheItemColumnsIsReadWithItsVector() {
    NumberEncoding both =
        new NumberEncoding.Beside(NumberEncoding.standardize(), NumberEncoding.pieces(3));
    Schema schema =
        new Schema(List.of("y"), List.of("x"), List.of(Slot.oneHot("user"), Slot.oneHot("item")));
    Batch rows = new Batch(schema, 60);
    for (int row = 0; row < 60; row++) {
      rows.setLabel(0, row % 2);
      rows.setDense(0, row);
      rows.addId(0, row % 7);
      rows.addId(1, row % 5);
      rows.endRow();
    }
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(rows),
            List.of(both),
            List.of(IdEncoding.verbatim(), IdEncoding.verbatim()),
            TextDictionary.none(),
            read -> {});
    UnaryOperator<TrainOptions> small = o -> o.batch(20).epochs(1);
    ModelConfig model = ModelConfig.of(Type.TWOTOWER, 4, 6).withMatching(Matching.of("item", "x"));
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder, model, small.apply(options()))) {
      trainer.fit(Readers.inMemory(rows));
      assertThat(trainer.network().parameters().stream().map(v -> v.shape().toString()))
          .as("the item's vector, the number and its vector; the user's vector alone")
          .contains("[9, 6]", "[4, 6]");
    }
    ModelConfig twice =
        ModelConfig.of(Type.TWOTOWER, 4, 6).withMatching(Matching.of("item", "x", "x"));
    try (Device device = Device.cpu(1, 1L << 27)) {
      assertThatThrownBy(() -> Trainer.create(device, encoder, twice, options()))
          .hasMessageContaining("as the columns of items, expected distinct ones");
    }
  }

  @Test
  void aCombinerForTheSlotOfANumberIsRefused() {
    FeatureEncoder encoder = encoder(rows(1, 100), NumberEncoding.pieces(3));
    TrainOptions mean = options().tables(t -> t.combiner("x", Combiner.MEAN));
    try (Device device = Device.cpu(1, 1L << 27)) {
      assertThatThrownBy(() -> Trainer.create(device, encoder, ModelConfig.of(Type.FM, 4), mean))
          .hasMessageContaining("got a combiner for slot x, whose ids are those of one number");
    }
  }
}
