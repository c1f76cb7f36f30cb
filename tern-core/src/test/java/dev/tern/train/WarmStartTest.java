package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.DataException;
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
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableOptions;
import dev.tern.metrics.Metrics;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs that begin with the weights of an earlier one. */
final class WarmStartTest {
  @TempDir Path folder;

  private static final Schema SCHEMA =
      new Schema(List.of("click"), List.of("age"), List.of(Slot.oneHot("site"), Slot.oneHot("ad")));
  private static final Schema WIDER =
      new Schema(
          List.of("click"),
          List.of("age"),
          List.of(Slot.oneHot("ad"), Slot.oneHot("site"), Slot.oneHot("day")));
  private static final Schema TURNED =
      new Schema(List.of("click"), List.of("age"), List.of(Slot.oneHot("ad"), Slot.oneHot("site")));
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);

  /** The second day has ads that the first did not have, and numbers of another scale. */
  private static Batch day(Schema schema, int day, int rows) {
    Batch batch = new Batch(schema, rows);
    Random random = new Random(day);
    for (int i = 0; i < rows; i++) {
      int site = random.nextInt(20);
      int ad = random.nextInt(30) + (day == 2 ? 10 : 0);
      float age = random.nextFloat(-day, day);
      batch.setDense(0, age);
      batch.addId(schema.slotNames().indexOf("site"), 100 + site);
      batch.addId(schema.slotNames().indexOf("ad"), 7L * ad - 50);
      if (schema.slotCount() == 3) {
        batch.addId(2, day);
      }
      double logit = age + 2 * Math.sin(site) + Math.cos(2 * ad);
      batch.setLabel(0, random.nextDouble() < 1 / (1 + Math.exp(-logit)) ? 1 : 0);
      batch.endRow();
    }
    return batch;
  }

  private static final IdEncoding VOCABULARY = new IdEncoding.Vocabulary(false, 1, 1 << 20);

  private static List<IdEncoding> encodings(Batch rows) {
    return rows.schema().slots().stream().map(slot -> VOCABULARY).toList();
  }

  private static FeatureEncoder encoder(Batch rows) {
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(NumberEncoding.auto()),
        encodings(rows),
        TextDictionary.none(),
        read -> {});
  }

  private static FeatureEncoder grown(FeatureEncoder earlier, Batch rows) {
    return earlier.grown(
        Readers.inMemory(rows),
        List.of(NumberEncoding.auto()),
        encodings(rows),
        Map.of(),
        TextDictionary.none(),
        read -> {});
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f)).batch(100).epochs(3).shuffleRows(1000);
  }

  private Path firstDay(Device device, UnaryOperator<TrainOptions> change) {
    Batch rows = day(SCHEMA, 1, 3000);
    Path saved = folder.resolve("day1");
    try (Trainer trainer = Trainer.create(device, encoder(rows), MODEL, change.apply(options()))) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(saved);
    }
    return saved;
  }

  /** The weights of a table's rows by id. */
  private static Map<Long, List<Float>> rows(EmbeddingTable table) {
    Map<Long, List<Float>> rows = new TreeMap<>();
    int width = table.config().width();
    int floats = table.config().rowFloats();
    table.exportTo((ids, values, count) -> {
      for (int i = 0; i < count; i++) {
        Float[] row = new Float[width];
        for (int j = 0; j < width; j++) {
          row[j] = values.getAtIndex(ValueLayout.JAVA_FLOAT, (long) i * floats + j);
        }
        rows.put(ids[i], List.of(row));
      }
    });
    return rows;
  }

  @Test
  void itPredictsAtFirstWhatTheEarlierRunDid() {
    Batch held = day(SCHEMA, 1, 1000);
    try (Device device = Device.cpu(1, 1L << 28)) {
      Path saved = firstDay(device, o -> o);
      Metrics.Result before;
      try (Trainer earlier = Trainer.resume(device, saved, MODEL, options())) {
        before = earlier.evaluate(Readers.inMemory(held));
      }
      FeatureEncoder same = Checkpoint.open(saved).encoder();
      TrainOptions others = TrainOptions.of(Optimizer.adagrad(0.1f)).batch(100);
      try (Trainer trainer =
          Trainer.warmStart(device, Checkpoint.open(saved), same, MODEL, others)) {
        assertThat(trainer.fresh()).isEmpty();
        assertThat(trainer.step()).isZero();
        assertThat(trainer.evaluate(Readers.inMemory(held))).isEqualTo(before);
      }
    }
  }

  @Test
  void aVocabularyThatGrewKeepsTheRowsOfItsValues() {
    Batch second = day(SCHEMA, 2, 3000);
    try (Device device = Device.cpu(1, 1L << 28)) {
      Path saved = firstDay(device, o -> o);
      Checkpoint first = Checkpoint.open(saved);
      FeatureEncoder grown = grown(first.encoder(), second);
      int before = first.encoder().vocabularySize(1);
      assertThat(before).isEqualTo(30);
      assertThat(grown.vocabularySize(1)).isEqualTo(40);
      assertThat(grown.vocabularySize(0)).isEqualTo(20);
      assertThat(grown.keepsIds(first.encoder(), "ad")).isTrue();
      assertThat(encoder(second).keepsIds(first.encoder(), "ad")).isFalse();
      for (int id = 1; id <= before; id++) {
        assertThat(grown.value(1, id)).isEqualTo(first.encoder().value(1, id));
      }
      Batch some = day(SCHEMA, 1, 50);
      Batch then = new Batch(first.encoder().schema(), 50);
      Batch now = new Batch(grown.schema(), 50);
      first.encoder().apply(some, then);
      grown.apply(some, now);
      assertThat(now.dense()).startsWith(Arrays.copyOf(then.dense(), 50));
      try (Trainer trainer =
              Trainer.warmStart(device, Checkpoint.open(saved), grown, MODEL, options());
          Trainer earlier = Trainer.resume(device, saved, MODEL, options())) {
        for (int t = 0; t < 2; t++) {
          assertThat(rows(trainer.network().tables().tables().get(t)))
              .isEqualTo(rows(earlier.network().tables().tables().get(t)));
        }
      }
    }
  }

  @Test
  void theSecondDayIsLearnedBetterThanFromNothing() {
    Batch second = day(SCHEMA, 2, 600);
    Batch held = day(SCHEMA, 2, 4000);
    TrainOptions short_ = options().epochs(1);
    try (Device device = Device.cpu(1, 1L << 28)) {
      Path saved = firstDay(device, o -> o);
      FeatureEncoder grown = grown(Checkpoint.open(saved).encoder(), second);
      double warm;
      double cold;
      try (Trainer trainer =
          Trainer.warmStart(device, Checkpoint.open(saved), grown, MODEL, short_)) {
        trainer.fit(Readers.inMemory(second));
        warm = trainer.evaluate(Readers.inMemory(held)).auc();
      }
      try (Trainer trainer = Trainer.create(device, encoder(second), MODEL, short_)) {
        trainer.fit(Readers.inMemory(second));
        cold = trainer.evaluate(Readers.inMemory(held)).auc();
      }
      assertThat(warm).isGreaterThan(cold + 0.05);
    }
  }

  @Test
  void newColumnsBeginAnewAndAreNamed() {
    Batch second = day(WIDER, 2, 3000);
    try (Device device = Device.cpu(1, 1L << 28)) {
      Path saved = firstDay(device, o -> o);
      FeatureEncoder grown = grown(Checkpoint.open(saved).encoder(), second);
      try (Trainer trainer =
              Trainer.warmStart(device, Checkpoint.open(saved), grown, MODEL, options());
          Trainer earlier = Trainer.resume(device, saved, MODEL, options())) {
        assertThat(trainer.fresh()).containsExactly("deep.0.weight", "table day");
        assertThat(rows(trainer.network().tables().tables().get(0)))
            .isEqualTo(rows(earlier.network().tables().tables().get(1)));
        trainer.fit(Readers.inMemory(second));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void tablesMayBeStoredAndKeptInOtherWays(boolean first) {
    UnaryOperator<TrainOptions> other =
        o ->
            o.tables(t ->
                TableOptions.of(Optimizer.rowWiseAdagrad(0.05f))
                    .storage(DType.F16)
                    .rows(RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), 1000)));
    try (Device device = Device.cpu(1, 1L << 28)) {
      Path saved = firstDay(device, first ? other : o -> o);
      FeatureEncoder same = Checkpoint.open(saved).encoder();
      TrainOptions now = first ? options() : other.apply(options());
      try (Trainer trainer = Trainer.warmStart(device, Checkpoint.open(saved), same, MODEL, now)) {
        assertThat(trainer.fresh()).isEmpty();
        assertThat(rows(trainer.network().tables().tables().getFirst())).hasSize(20);
        trainer.fit(Readers.inMemory(day(SCHEMA, 1, 500)));
      }
    }
  }

  @Test
  void weightsThatCannotServeAreRefused() {
    try (Device device = Device.cpu(1, 1L << 28)) {
      Path saved = firstDay(device, o -> o);
      FeatureEncoder same = Checkpoint.open(saved).encoder();
      TrainOptions ftrl = TrainOptions.of(new Optimizer.Ftrl(0.1f, 0, 0, 0)).batch(50);
      assertThatThrownBy(() -> Trainer.warmStart(device, Checkpoint.open(saved), same, MODEL, ftrl))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got FTRL");
      ModelConfig other = ModelConfig.of(ModelConfig.Type.WDL, 4, 8);
      assertThatThrownBy(
              () -> Trainer.warmStart(device, Checkpoint.open(saved), same, other, options()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the model WDL, expected DEEPFM");
      ModelConfig wider = ModelConfig.of(ModelConfig.Type.DEEPFM, 5, 9, 3);
      try (Trainer trainer =
          Trainer.warmStart(device, Checkpoint.open(saved), same, wider, options())) {
        assertThat(trainer.fresh())
            .contains("table site", "table ad")
            .doesNotContain("linear.bias");
      }
    }
  }

  @Test
  void weightsThatWouldMeetOtherColumnsAreRefused() {
    Batch turned = day(TURNED, 2, 500);
    Batch second = day(SCHEMA, 2, 500);
    try (Device device = Device.cpu(1, 1L << 28)) {
      Checkpoint saved = Checkpoint.open(firstDay(device, o -> o));
      FeatureEncoder reordered = grown(saved.encoder(), turned);
      assertThatThrownBy(() -> Trainer.warmStart(device, saved, reordered, MODEL, options()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the slots [ad, site], expected [site, ad]");
      FeatureEncoder rescaled = encoder(second);
      assertThatThrownBy(() -> Trainer.warmStart(device, saved, rescaled, MODEL, options()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the number age encoded otherwise");
    }
  }

  @Test
  void rowsBeyondTheMostOfATableAreRefused() {
    TrainOptions few =
        options().tables(t -> t.rows(RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), 10)));
    try (Device device = Device.cpu(1, 1L << 28)) {
      Checkpoint saved = Checkpoint.open(firstDay(device, o -> o));
      assertThatThrownBy(() -> Trainer.warmStart(device, saved, saved.encoder(), MODEL, few))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("got 20 rows to begin with, expected 10 at most");
    }
  }

  @Test
  void whatStandsForAMissingNumberMayChange() {
    Batch rows = day(SCHEMA, 1, 100);
    FeatureEncoder other =
        encoder(rows)
            .grown(
                Readers.inMemory(day(SCHEMA, 2, 100)),
                List.of(new NumberEncoding.Auto(-1)),
                encodings(rows),
                Map.of(),
                TextDictionary.none(),
                read -> {});
    assertThat(other.rescaled(encoder(rows))).isEmpty();
    Batch missing = new Batch(SCHEMA, 1);
    missing.setDense(0, Float.NaN);
    missing.addId(0, 100);
    missing.addId(1, -50);
    missing.endRow();
    for (FeatureEncoder encoder : List.of(other, FeatureEncoder.fromJson(other.toJson(), "x"))) {
      Batch encoded = new Batch(encoder.schema(), 1);
      encoder.apply(missing, encoded);
      assertThat(encoded.dense()[0]).isEqualTo(-1);
    }
  }

  @Test
  void aRunThatBeganWarmIsResumedAsAnyOther() {
    Batch second = day(SCHEMA, 2, 1000);
    try (Device device = Device.cpu(1, 1L << 28)) {
      Path saved = firstDay(device, o -> o);
      FeatureEncoder grown = grown(Checkpoint.open(saved).encoder(), second);
      Path half = folder.resolve("half");
      double straight;
      try (Trainer trainer =
          Trainer.warmStart(device, Checkpoint.open(saved), grown, MODEL, options())) {
        trainer.fit(Readers.inMemory(second));
        straight = trainer.evaluate(Readers.inMemory(second)).logLoss();
      }
      try (Trainer trainer =
          Trainer.warmStart(device, Checkpoint.open(saved), grown, MODEL, options().epochs(1))) {
        trainer.fit(Readers.inMemory(second));
        trainer.save(half);
      }
      try (Trainer trainer = Trainer.resume(device, half, MODEL, options())) {
        trainer.fit(Readers.inMemory(second));
        assertThat(trainer.evaluate(Readers.inMemory(second)).logLoss()).isEqualTo(straight);
      }
    }
  }

  @Test
  void frozenTablesStayAsTheyWere() {
    Batch second = day(SCHEMA, 2, 3000);
    try (Device device = Device.cpu(2, 1L << 28)) {
      Path saved = firstDay(device, o -> o);
      FeatureEncoder grown = grown(Checkpoint.open(saved).encoder(), second);
      TrainOptions frozen = options().tables(t -> t.frozen(Set.of("ad")));
      try (Trainer trainer =
              Trainer.warmStart(device, Checkpoint.open(saved), grown, MODEL, frozen);
          Trainer earlier = Trainer.resume(device, saved, MODEL, options())) {
        trainer.fit(Readers.inMemory(second));
        List<EmbeddingTable> now = trainer.network().tables().tables();
        List<EmbeddingTable> then = earlier.network().tables().tables();
        assertThat(rows(now.get(1))).isEqualTo(rows(then.get(1))).hasSize(30);
        assertThat(rows(now.get(0))).isNotEqualTo(rows(then.get(0)));
        Path resumed = folder.resolve("resumed");
        trainer.save(resumed);
        assertThatThrownBy(() -> Trainer.resume(device, resumed, MODEL, options()).close())
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("frozen");
      }
      TrainOptions unknown = options().tables(t -> t.frozen(Set.of("town")));
      assertThatThrownBy(() -> Trainer.create(device, grown, MODEL, unknown).close())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got rows of table town");
    }
  }
}
