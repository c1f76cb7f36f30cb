package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.model.Loss;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelFactory;
import dev.tern.model.Task;
import dev.tern.nn.Activation;
import dev.tern.nn.Features;
import dev.tern.nn.Model;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Batches that are computed in lanes. */
final class LanesTest {
  private static final long MEMORY = 1L << 28;
  private static final Batch ROWS = PlantedRuns.planted(1, 700);
  private static final ModelConfig DEEPFM =
      ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 16, 8).withDropout(0.1f);

  @TempDir Path folder;

  private static TrainOptions lanes(TrainOptions options, int lanes) {
    return options.batch(64).lanes(lanes);
  }

  private static TrainOptions adam() {
    return TrainOptions.of(Optimizer.lazyAdam(0.01f)).epochs(1).shuffleRows(1000);
  }

  /** Trains beside the plain implementation; both must have the same losses and weights. */
  private void requireAsPlain(
      FeatureEncoder encoder, ModelConfig model, TrainOptions options, Batch rows)
      throws IOException {
    try (Device device = Device.cpu(2, MEMORY);
        Trainer trainer = Trainer.create(device, encoder, model, options);
        TrainingBatches batches = trainer.batches(Readers.inMemory(rows));
        LaneOracle plain = new LaneOracle(device, encoder, model, options)) {
      while (trainer.epoch() < options.epochs()) {
        for (Batch batch : batches) {
          float[] expected = plain.step(batch, trainer.step() + 1);
          StepResult step = trainer.step(batch);
          String what = "step %d of %s".formatted(step.step(), model);
          assertThat(step.loss()).as(what).isEqualTo(expected[0]);
          int logits = batch.size() * trainer.network().tasks().count();
          for (int i = 0; i < logits; i++) {
            assertThat(trainer.logits()[i]).as(what).isEqualTo(expected[1 + i]);
          }
        }
      }
      Path target = folder.resolve("trainer");
      trainer.save(target);
      plain.save(folder.resolve("plain"), trainer.state());
      assertThat(PlantedRuns.contents(target))
          .as("%s with %s", model, options.tables())
          .isEqualTo(PlantedRuns.contents(folder.resolve("plain")));
    }
  }

  /** A type of each kind; with {@code -Dtest.flags="-Ddrawn.runs=2"} all that lanes go with. */
  private static Stream<ModelConfig.Type> types() {
    return Integer.getInteger("drawn.runs", 1) > 1
        ? Stream.of(ModelConfig.Type.values()).filter(type -> type != ModelConfig.Type.TWOTOWER)
        : Stream.of(
            ModelConfig.Type.LR,
            ModelConfig.Type.FM,
            ModelConfig.Type.WDL,
            ModelConfig.Type.DEEPFM,
            ModelConfig.Type.DLRM,
            ModelConfig.Type.ESMM,
            ModelConfig.Type.DIN,
            ModelConfig.Type.GMF,
            ModelConfig.Type.FINALNET);
  }

  @ParameterizedTest
  @MethodSource("types")
  void theCheckpointOfARunInLanesIsThatOfThePlainImplementation(ModelConfig.Type type)
      throws IOException {
    DrawnRun run = DrawnRun.of(type, 3);
    requireAsPlain(run.encoder(), run.model(), lanes(run.options(), 4), run.train());
  }

  private static Stream<Arguments> kinds() {
    TrainOptions adam = adam();
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 10));
    RowPolicy few =
        RowPolicy.ALL
            .withMaxRows(12, WhenFull.UNKNOWN)
            .withRoomMadeBy(new Eviction.LeastFrequent(), 5);
    RowPolicy recent =
        counted.withMaxRows(9, WhenFull.UNKNOWN).withRoomMadeBy(new Eviction.LeastRecent(), 7);
    return Stream.of(
        Arguments.of("2 lanes", lanes(adam, 2)),
        Arguments.of("16 lanes", lanes(adam, 16)),
        Arguments.of("lanes of one row", lanes(adam, 64)),
        Arguments.of(
            "sgd, clipped", lanes(TrainOptions.of(Optimizer.sgd(0.1f)).clipNorm(0.05f), 8)),
        Arguments.of(
            "decay of weights",
            lanes(TrainOptions.of(Optimizer.adagrad(0.05f)).weightDecay(0.1f), 4)),
        Arguments.of("all rows of Adam", lanes(TrainOptions.of(Optimizer.adam(0.01f)), 8)),
        Arguments.of("ftrl", lanes(TrainOptions.of(Optimizer.ftrl(0.05f)), 8)),
        Arguments.of("linear part", lanes(adam.tables(t -> t.firstPart(Optimizer.ftrl(0.05f))), 8)),
        Arguments.of("bf16, mean", tables(t -> t.storage(DType.BF16).combiner(Combiner.MEAN))),
        Arguments.of("f16, l2", tables(t -> t.storage(DType.F16).l2(0.01f).l2OfAllRows(true))),
        Arguments.of("limits", tables(t -> t.limits(RowLimits.NONE.withClipNorm(0.001f)))),
        Arguments.of("by count", tables(t -> t.rows(counted).unknown(UnknownRow.INITIAL))),
        Arguments.of("buckets", tables(t -> t.rows(counted).unknown(new UnknownRow.Hashed(2)))),
        Arguments.of("least frequent", tables(t -> t.rows(few))),
        Arguments.of("least recent", tables(t -> t.rows(recent).unknown(UnknownRow.MEAN))),
        Arguments.of(
            "unseen", tables(t -> t.rows(RowPolicy.ALL.withEviction(new Eviction.Unseen(2))))));
  }

  private static TrainOptions tables(UnaryOperator<TableOptions> change) {
    return lanes(adam().tables(change), 8);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("kinds")
  void soItIsWithOptimizersTablesAndPoliciesOfAnyKind(String name, TrainOptions options)
      throws IOException {
    requireAsPlain(PlantedRuns.encoder(ROWS), DEEPFM, options.shuffleRows(1000), ROWS);
  }

  @Test
  void soItIsWithStatisticsOfLayersAndWithALastLaneOfOneRow() throws IOException {
    ModelConfig model =
        ModelConfig.of(ModelConfig.Type.DCNV2, 4, 16, 8)
            .withCrossLayers(1)
            .withActivation(Activation.DICE, true);
    Batch rows = PlantedRuns.planted(3, 64 + 8 + 8 + 1);
    requireAsPlain(PlantedRuns.encoder(rows), model, lanes(adam(), 8), rows);
  }

  @Test
  void soItIsWithWeightsOfRowsAndTasksThatSomeRowsCountFor() throws IOException {
    Schema plain = ROWS.schema();
    Schema schema =
        new Schema(List.of("click", "buy"), plain.dense(), plain.slots())
            .withWeight(Optional.of("w"));
    Batch rows = new Batch(schema, 300);
    for (int row = 0; row < 300; row++) {
      rows.setLabel(0, row % 3 == 0 ? 0 : 1);
      rows.setLabel(1, row % 2);
      rows.setDense(0, row % 7 / 3f);
      rows.setDense(1, row % 5);
      rows.addId(0, row % 11);
      rows.addId(1, row % 17);
      rows.addId(2, row % 4);
      rows.setRowWeight(0.1f * (row % 9));
      rows.endRow();
    }
    ModelConfig model =
        ModelConfig.of(ModelConfig.Type.SHAREDBOTTOM, 4, 8)
            .withTasks(
                Task.of("click").withPositiveWeight(3),
                Task.of("buy").withWeight(0.5f).within("click"));
    requireAsPlain(PlantedRuns.encoder(rows), model, lanes(adam(), 8), rows);
  }

  private byte[] trained(int threads, TrainOptions options, String name) throws IOException {
    try (Device device = Device.cpu(threads, MEMORY);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), DEEPFM, options)) {
      trainer.fit(Readers.inMemory(ROWS));
      trainer.save(folder.resolve(name));
    }
    return PlantedRuns.contents(folder.resolve(name));
  }

  @Test
  void threadsAndAStopChangeNoBit() throws IOException {
    TrainOptions options = lanes(adam(), 8).epochs(2).reportEvery(1);
    byte[] expected = trained(1, options, "one");
    assertThat(trained(3, options, "three")).isEqualTo(expected);
    Path half = folder.resolve("half");
    try (Device device = Device.cpu(2, MEMORY)) {
      try (Trainer first = Trainer.create(device, PlantedRuns.encoder(ROWS), DEEPFM, options)) {
        first.fit(
            Readers.inMemory(ROWS),
            Optional.empty(),
            progress -> {
              if (progress.step() == 13) {
                first.requestStop();
              }
            });
        first.save(half);
      }
      try (Trainer second = Trainer.resume(device, half, DEEPFM, options)) {
        second.fit(Readers.inMemory(ROWS));
        second.save(folder.resolve("resumed"));
      }
      assertThat(PlantedRuns.contents(folder.resolve("resumed"))).isEqualTo(expected);
      assertThatThrownBy(() -> Trainer.resume(device, half, DEEPFM, options.lanes(4)))
          .hasMessageContaining("resume: got lanes 4, expected 8 as in");
      assertThatThrownBy(() -> Trainer.resume(device, half, DEEPFM, options.lanes(1)))
          .hasMessageContaining("resume: got lanes 1, expected 8 as in");
    }
  }

  @Test
  void oneLaneIsARunWithoutLanesAndItsCheckpointSaysNothingOfThem() throws IOException {
    assertThat(trained(2, lanes(adam(), 1), "one")).isEqualTo(trained(2, adam().batch(64), "none"));
    try (Device device = Device.cpu(2, MEMORY)) {
      assertThatThrownBy(
              () -> Trainer.resume(device, folder.resolve("none"), DEEPFM, lanes(adam(), 2)))
          .hasMessageContaining("resume: got lanes 2, expected 1 as in");
    }
  }

  @Test
  void lossesInLanesAreThoseOfWholeBatchesButForRounding() {
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 16, 8);
    List<List<Float>> losses = new ArrayList<>();
    for (int lanes : new int[] {1, 8}) {
      List<Float> ofRun = new ArrayList<>();
      TrainOptions options = lanes(TrainOptions.of(Optimizer.adagrad(0.05f)), lanes);
      try (Device device = Device.cpu(2, MEMORY);
          Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), model, options);
          TrainingBatches batches = trainer.batches(Readers.inMemory(ROWS))) {
        for (Batch batch : batches) {
          ofRun.add(trainer.step(batch).loss());
        }
      }
      losses.add(ofRun);
    }
    assertThat(losses.get(0)).hasSize(11);
    for (int step = 0; step < 11; step++) {
      assertThat(losses.get(1).get(step)).isCloseTo(losses.get(0).get(step), within(2e-6f));
    }
  }

  @Test
  void aBatchOfMoreRowsThanTheOptionsSayHasMoreLanes() {
    TrainOptions options = TrainOptions.of(Optimizer.adagrad(0.05f)).batch(64).shuffleRows(0);
    Batch rows = PlantedRuns.planted(5, 200);
    FeatureEncoder encoder = PlantedRuns.encoder(rows);
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 16, 8);
    Batch encoded = new Batch(encoder.schema(), rows.size());
    encoder.apply(rows, encoded);
    List<Float> losses = new ArrayList<>();
    for (int lanes : new int[] {1, 8}) {
      try (Device device = Device.cpu(2, MEMORY);
          Trainer trainer = Trainer.create(device, encoder, model, options.lanes(lanes))) {
        losses.add(trainer.step(encoded).loss());
        losses.add(trainer.step(encoded).loss());
        assertThat(trainer.logits()[199]).isNotZero();
      }
    }
    assertThat(losses.get(2)).isCloseTo(losses.get(0), within(2e-6f));
    assertThat(losses.get(3)).isCloseTo(losses.get(1), within(2e-6f));
  }

  @Test
  void aBatchWhoseValuesDoNotFitFitsInLanes() {
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 256, 256, 256);
    TrainOptions options = TrainOptions.of(Optimizer.lazyAdam(0.01f)).batch(4096).shuffleRows(0);
    Batch rows = PlantedRuns.planted(5, 4096);
    long budget = 12L << 20;
    assertThatThrownBy(() -> lossOf(model, options, rows, budget))
        .hasMessageContaining("raise the memory budget");
    assertThat(lossOf(model, options.lanes(16), rows, budget)).isBetween(0.5f, 0.9f);
  }

  private static float lossOf(ModelConfig model, TrainOptions options, Batch rows, long budget) {
    try (Device device = Device.cpu(2, budget);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(rows), model, options);
        TrainingBatches batches = trainer.batches(Readers.inMemory(rows))) {
      return trainer.step(batches.iterator().next()).loss();
    }
  }

  /** A model that learns by a loss of its own: the mean over rows of what each has by itself. */
  private record NearOne(Model model) implements Model {
    @Override
    public int embeddingWidth() {
      return model.embeddingWidth();
    }

    @Override
    public boolean hasOwnLoss() {
      return true;
    }

    @Override
    public Tensor logits(Features x) {
      Tensor logits = model.logits(x);
      x.pass().addLoss("near one", logits.sub(1).square().mean());
      return logits;
    }
  }

  @Test
  void aLossOfAModelsOwnIsTheMeanOverTheRowsOfAllLanes() {
    ModelConfig dcn = ModelConfig.of(ModelConfig.Type.DCN, 4, 8);
    ModelFactory factory = (schema, parameters) -> new NearOne(dcn.create(schema, parameters));
    TrainOptions whole = TrainOptions.of(Optimizer.adagrad(0.05f)).batch(64).shuffleRows(0);
    List<List<Float>> losses = new ArrayList<>();
    for (TrainOptions options : List.of(whole, whole.lanes(4))) {
      List<Float> of = new ArrayList<>();
      losses.add(of);
      try (Device device = Device.cpu(2, MEMORY);
          Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), factory, options);
          TrainingBatches batches = trainer.batches(Readers.inMemory(ROWS))) {
        for (Batch batch : batches) {
          of.add(trainer.step(batch).loss());
        }
      }
    }
    assertThat(losses.get(0)).hasSize(11); // The last batch has fewer rows, and its last lane, too.
    assertThat(losses.get(0).getLast()).isLessThan(losses.get(0).getFirst());
    for (int step = 0; step < 11; step++) {
      assertThat(losses.get(1).get(step)).isCloseTo(losses.get(0).get(step), within(2e-6f));
    }
  }

  @Test
  void batchesOfAnyRowsFillLaneAfterLane() {
    TrainOptions options = lanes(adam(), 4);
    FeatureEncoder encoder = PlantedRuns.encoder(ROWS);
    try (Device device = Device.cpu(2, MEMORY);
        Trainer trainer = Trainer.create(device, encoder, DEEPFM, options);
        LaneOracle plain = new LaneOracle(device, encoder, DEEPFM, options)) {
      for (int rows : new int[] {1, 15, 16, 17, 33, 64, 2}) {
        Batch batch = new Batch(encoder.schema(), rows);
        encoder.apply(PlantedRuns.planted(rows, rows), batch);
        float expected = plain.step(batch, trainer.step() + 1)[0];
        assertThat(trainer.step(batch).loss()).as("%d rows", rows).isEqualTo(expected);
      }
    }
  }

  @Test
  void lossesThatCompareRowsOfSeveralLanesAreRefused() {
    FeatureEncoder encoder = PlantedRuns.encoder(ROWS);
    ModelConfig pairs = DEEPFM.withTasks(Task.of("click").withLoss(new Loss.Pairwise("site")));
    ModelConfig towers =
        ModelConfig.of(ModelConfig.Type.TWOTOWER, 4, 8).withMatching(Matching.of("ad"));
    try (Device device = Device.cpu(1, MEMORY)) {
      assertThatThrownBy(() -> Trainer.create(device, encoder, pairs, lanes(adam(), 2)))
          .hasMessage(
              "train options: got 2 lanes for a loss of pairs of rows with the same site, expected"
                  + " 1 lane, as the rows of a pair may be in two; leave lanes out");
      assertThatThrownBy(() -> Trainer.create(device, encoder, towers, lanes(adam(), 2)))
          .hasMessageStartingWith(
              "train options: got 2 lanes for a model that compares each row with the items of all"
                  + " rows of a batch, expected 1 lane");
      assertThatThrownBy(() -> Trainer.create(device, encoder, DEEPFM, adam().batch(60).lanes(8)))
          .hasMessage(
              "train options: got batches of 60 rows in 8 lanes, expected a multiple of 8 rows;"
                  + " make lanes of equal size");
    }
    for (int lanes : new int[] {0, -2, 3, 12, 2048}) {
      assertThatThrownBy(() -> adam().lanes(lanes))
          .hasMessage(
              "train options: got lanes %d, expected a power of two from 1 (none) to 1,024"
                  .formatted(lanes));
    }
  }
}
