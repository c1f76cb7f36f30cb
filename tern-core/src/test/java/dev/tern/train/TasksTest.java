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
import dev.tern.metrics.TaskMetrics;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelFactory;
import dev.tern.model.Scorer;
import dev.tern.model.Task;
import dev.tern.model.Towers;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.predict.ScoreOptions;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models of several tasks: what trains them, what their metrics count, and their scores. */
final class TasksTest {
  @TempDir Path folder;

  private static final Schema SCHEMA =
      new Schema(
          List.of("click", "buy"), List.of("age"), List.of(Slot.oneHot("site"), Slot.oneHot("ad")));
  private static final Batch TRAIN = rows(1, 4000);
  private static final Batch HELD = rows(2, 2000);
  private static final Task CLICK = Task.of("click");
  private static final Task BUY = Task.of("buy");

  /** A row is bought only after a click; both depend on the ids. */
  private static Batch rows(long seed, int count) {
    Batch batch = new Batch(SCHEMA, count);
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      int site = random.nextInt(20);
      int ad = random.nextInt(30);
      float age = random.nextFloat(-1, 1);
      batch.setDense(0, age);
      batch.addId(0, site);
      batch.addId(1, ad);
      boolean click = random.nextDouble() < sigmoid(age + 2 * Math.sin(site));
      boolean buy = click && random.nextDouble() < sigmoid(2 * Math.cos(ad));
      batch.setLabel(0, click ? 1 : 0);
      batch.setLabel(1, buy ? 1 : 0);
      batch.endRow();
    }
    return batch;
  }

  private static double sigmoid(double x) {
    return 1 / (1 + Math.exp(-x));
  }

  private static FeatureEncoder encoder() {
    return FeatureEncoder.fit(
        Readers.inMemory(TRAIN),
        List.of(NumberEncoding.none()),
        List.of(IdEncoding.verbatim(), IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  private static ModelConfig model(ModelConfig.Type type, Task... tasks) {
    return ModelConfig.of(type, 4, 16)
        .withTowers(new Towers(List.of(tasks), List.of(8), 3, List.of()));
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f)).batch(128).epochs(4).shuffleRows(1000);
  }

  private static Trainer trained(Device device, ModelFactory model) {
    Trainer trainer = Trainer.create(device, encoder(), model, options());
    trainer.fit(Readers.inMemory(TRAIN));
    return trainer;
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      names = {"SHAREDBOTTOM", "MMOE", "ESMM", "PLE"})
  void everyModelOfSeveralTasksLearnsAllOfThem(ModelConfig.Type type) {
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = Trainer.create(device, encoder(), model(type), options())) {
      List<Progress> reports = new ArrayList<>();
      trainer.fit(Readers.inMemory(TRAIN), Optional.of(Readers.inMemory(HELD)), reports::add);
      List<TaskMetrics.Result> last = reports.getLast().tasks();
      assertThat(last.stream().map(TaskMetrics.Result::task)).containsExactly("click", "buy");
      assertThat(last.get(0).metrics().auc()).isGreaterThan(0.8);
      assertThat(last.get(1).metrics().auc()).isGreaterThan(0.8);
      assertThat(last.get(1).metrics().rows()).isEqualTo(2000);
      assertThat(last.get(1).metrics().calibration()).isCloseTo(1, within(0.15));
      assertThat(reports.getLast().metrics()).isEqualTo(last.getFirst().metrics());
      assertThat(trainer.best())
          .isEqualTo(
              reports.stream()
                  .filter(r -> r.split() == Progress.Split.EVAL)
                  .mapToDouble(r -> r.metrics().auc())
                  .max()
                  .orElseThrow());
      assertThat(trainer.evaluateTasks(Readers.inMemory(HELD))).isEqualTo(last);
    }
  }

  @Test
  void labelsOfRowsThatDoNotCountChangeNothing() {
    Batch other = rows(1, 4000);
    for (int i = 0; i < other.size(); i++) {
      if (other.labels()[2 * i] == 0) {
        other.labels()[2 * i + 1] = i % 3 == 0 ? Float.NaN : i % 2;
      }
    }
    ModelConfig model = model(ModelConfig.Type.MMOE, CLICK, BUY.within("click"));
    List<float[]> weights = new ArrayList<>();
    List<TaskMetrics.Result> metrics = new ArrayList<>();
    for (Batch batch : List.of(TRAIN, other)) {
      try (Device device = Device.cpu(1, 1L << 28);
          Trainer trainer = Trainer.create(device, encoder(), model, options())) {
        trainer.fit(Readers.inMemory(batch));
        weights.add(trainer.network().parameters().getFirst().toArray());
        metrics.add(trainer.evaluateTasks(Readers.inMemory(batch)).get(1));
      }
    }
    assertThat(weights.get(0)).isEqualTo(weights.get(1));
    assertThat(metrics.get(0)).isEqualTo(metrics.get(1));
    long clicks = 0;
    for (int i = 0; i < TRAIN.size(); i++) {
      clicks += TRAIN.labels()[2 * i] == 1 ? 1 : 0;
    }
    assertThat(metrics.getFirst().metrics().rows()).isEqualTo(clicks);
  }

  @Test
  void aMissingLabelOfARowThatCountsIsRefused() {
    Batch other = rows(1, 10);
    other.labels()[2 * 3 + 1] = Float.NaN;
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer =
            Trainer.create(device, encoder(), model(ModelConfig.Type.MMOE), options())) {
      assertThatThrownBy(() -> trainer.fit(Readers.inMemory(other)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got no label buy in row");
    }
  }

  @Test
  void theLossIsTheWeightedSumOfTheTasksMeanLosses() {
    ModelConfig model =
        model(ModelConfig.Type.SHAREDBOTTOM, CLICK, BUY.within("click").withWeight(0.25f));
    TrainOptions options = TrainOptions.of(Optimizer.sgd(1e-20f)).batch(500).shuffleRows(0);
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.create(device, encoder(), model, options)) {
      Batch rows = rows(5, 500);
      Batch encoded = new Batch(trainer.encoder().schema(), 500);
      trainer.encoder().apply(rows, encoded);
      StepResult step = trainer.step(encoded);
      List<TaskMetrics.Result> tasks = trainer.evaluateTasks(Readers.inMemory(rows));
      double expected = tasks.get(0).metrics().logLoss() + 0.25 * tasks.get(1).metrics().logLoss();
      assertThat((double) step.loss()).isCloseTo(expected, within(1e-5));
    }
  }

  @Test
  void aBatchWithoutARowOfATaskTrainsTheOthers() {
    Batch rows = rows(5, 64);
    for (int i = 0; i < 64; i++) {
      rows.labels()[2 * i] = 0;
      rows.labels()[2 * i + 1] = 0;
    }
    ModelConfig model = model(ModelConfig.Type.MMOE, CLICK, BUY.within("click"));
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.create(device, encoder(), model, options().batch(64))) {
      Batch encoded = new Batch(trainer.encoder().schema(), 64);
      trainer.encoder().apply(rows, encoded);
      float first = trainer.step(encoded).loss();
      float second = trainer.step(encoded).loss();
      assertThat(second).isLessThan(first);
      TaskMetrics.Result none = trainer.evaluateTasks(Readers.inMemory(rows)).get(1);
      assertThat(none.metrics().rows()).isZero();
      assertThat(none.metrics().logLoss()).isNaN();
    }
  }

  @Test
  void bitsAreTheSameOnAnyThreadsAndAfterAResume() throws IOException {
    ModelConfig model = model(ModelConfig.Type.MMOE, CLICK, BUY.within("click").withWeight(0.5f));
    Path straight = folder.resolve("straight");
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = trained(device, model)) {
      trainer.save(straight);
    }
    Path half = folder.resolve("half");
    Path resumed = folder.resolve("resumed");
    try (Device device = Device.cpu(1, 1L << 28)) {
      try (Trainer trainer = Trainer.create(device, encoder(), model, options().epochs(2))) {
        trainer.fit(Readers.inMemory(TRAIN));
        trainer.save(half);
      }
      try (Trainer trainer = Trainer.resume(device, half, model, options())) {
        trainer.fit(Readers.inMemory(TRAIN));
        trainer.save(resumed);
      }
      assertThat(PlantedRuns.contents(resumed)).isEqualTo(PlantedRuns.contents(straight));
      ModelConfig other = model(ModelConfig.Type.MMOE, CLICK, BUY.within("click"));
      assertThatThrownBy(() -> Trainer.resume(device, half, other, options()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("resume: got tasks");
    }
    assertThat(Checkpoint.open(straight).model()).contains(model);
  }

  @Test
  void scoresOfARowLieSideBySide() {
    ModelConfig model = model(ModelConfig.Type.ESMM);
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = trained(device, model)) {
      trainer.save(saved);
    }
    float[] alone;
    float[] shared;
    try (Predictor predictor = Predictor.open(saved)) {
      assertThat(predictor.tasks()).containsExactly(CLICK, BUY);
      alone = predictor.score(HELD);
      assertThat(alone).hasSize(2 * HELD.size());
      Map<String, Object> first =
          Map.of("age", HELD.dense()[0], "site", HELD.ids(0)[0], "ad", HELD.ids(1)[0]);
      assertThat(predictor.scores(first)).containsExactly(alone[0], alone[1]);
      assertThat(predictor.score(first)).isEqualTo(alone[0]);
      for (int i = 0; i < HELD.size(); i++) {
        assertThat(alone[2 * i + 1]).isLessThanOrEqualTo(alone[2 * i]);
      }
      assertThatThrownBy(() -> predictor.score(HELD, new float[HELD.size()]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("room for 2000 results, expected 4000");
    }
    try (Predictor predictor = Predictor.open(saved, ScoreOptions.DEFAULT.withThreads(2))) {
      shared = predictor.score(HELD);
    }
    assertThat(shared).isEqualTo(alone);
  }

  @Test
  void aModelOfOnesOwnNamesItsTasks() {
    ModelConfig towers = model(ModelConfig.Type.SHAREDBOTTOM, CLICK, BUY);
    ModelFactory own = towers::create;
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 28)) {
      ModelFactory single = ModelConfig.of(ModelConfig.Type.LR, 2)::create;
      assertThatThrownBy(() -> trained(device, single).close())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected one for each row and label, [128, 2]");
      ModelFactory named = own.withTasks(CLICK, BUY.withWeight(2));
      try (Trainer trainer = trained(device, named)) {
        trainer.save(saved);
      }
      Trainer.resume(device, saved, named, options()).close();
      ModelFactory other = own.withTasks(CLICK, BUY);
      assertThatThrownBy(() -> Trainer.resume(device, saved, other, options()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("resume: got tasks");
    }
    assertThatThrownBy(() -> Predictor.open(saved, own.withTasks(BUY, CLICK)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got a model of the labels [buy, click], expected [click, buy]");
    try (Predictor predictor = Predictor.open(saved, own.withTasks(CLICK, BUY.withWeight(2)))) {
      assertThat(predictor.score(HELD)).hasSize(2 * HELD.size());
    }
  }

  @Test
  void labelsInAnotherOrderAreRefused() {
    Schema turned = new Schema(List.of("buy", "click"), SCHEMA.dense(), SCHEMA.slots());
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer =
            Trainer.create(device, encoder(), model(ModelConfig.Type.MMOE), options())) {
      assertThatThrownBy(() -> trainer.fit(Readers.inMemory(new Batch(turned, 1))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the labels [buy, click], expected [click, buy]");
      assertThatThrownBy(() -> trainer.evaluate(Readers.inMemory(new Batch(turned, 1))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the labels [buy, click], expected [click, buy]");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"click", "buy"})
  void aModelOfOneTaskTakesTheLabelThatItNames(String label) {
    int column = SCHEMA.labels().indexOf(label);
    ModelConfig one = ModelConfig.of(ModelConfig.Type.LR, 2).withTasks(Task.of(label));
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = trained(device, one)) {
      TaskMetrics.Result result = trainer.evaluateTasks(Readers.inMemory(HELD)).getFirst();
      assertThat(result.task()).isEqualTo(label);
      assertThat(result.metrics().auc()).isGreaterThan(0.75);
      long positives = 0;
      for (int i = 0; i < HELD.size(); i++) {
        positives += HELD.labels()[2 * i + column] == 1 ? 1 : 0;
      }
      assertThat(result.metrics().positives()).isEqualTo(positives);
    }
  }

  @Test
  void lossesOfPositiveRowsCountTimesTheirWeight() {
    Task heavy = CLICK.withPositiveWeight(3);
    Task plain = BUY.withWeight(0.5f);
    ModelConfig model = model(ModelConfig.Type.SHAREDBOTTOM, heavy, plain);
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.create(device, encoder(), model, options());
        Scorer scorer = new Scorer(trainer.network(), 100)) {
      Batch batch = new Batch(trainer.encoder().schema(), 100);
      trainer.encoder().apply(TRAIN, 0, 100, batch);
      float[] logits = new float[200];
      // With no row yet ids read as zeros, in the first step as initial rows: train once before.
      trainer.step(batch);
      scorer.logits(batch, logits, 0);
      double expected = 0;
      for (int row = 0; row < 100; row++) {
        for (int k = 0; k < 2; k++) {
          float label = batch.labels()[2 * row + k];
          double entropy =
              Math.log1p(Math.exp(label == 1 ? -logits[2 * row + k] : logits[2 * row + k]));
          expected += entropy * (k == 1 ? 0.5 : label == 1 ? 3 : 1) / 100;
        }
      }
      assertThat((double) trainer.step(batch).loss()).isCloseTo(expected, within(1e-5));
    }
    assertThatThrownBy(() -> CLICK.withPositiveWeight(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got the weight 0.0 of positive rows");
  }

  @Test
  void scoresAreOfDataWithAllNegativeRows() throws IOException {
    float[] sampled;
    float[] all;
    Path saved = folder.resolve("sampled");
    Task kept = CLICK.withNegativeRate(0.25f);
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer first = trained(device, model(ModelConfig.Type.MMOE, kept, BUY));
        Trainer second = trained(device, model(ModelConfig.Type.MMOE, CLICK, BUY))) {
      first.save(saved);
      second.save(folder.resolve("all"));
      double shift = first.evaluateTasks(Readers.inMemory(HELD)).getFirst().metrics().calibration();
      double plain =
          second.evaluateTasks(Readers.inMemory(HELD)).getFirst().metrics().calibration();
      assertThat(shift).isLessThan(0.7 * plain);
    }
    try (Predictor one = Predictor.open(saved);
        Predictor other = Predictor.open(folder.resolve("all"))) {
      sampled = new float[2 * HELD.size()];
      all = new float[2 * HELD.size()];
      one.logits(HELD, sampled);
      other.logits(HELD, all);
      assertThat(one.tasks()).containsExactly(kept, BUY);
    }
    for (int i = 0; i < all.length; i++) {
      float offset = i % 2 == 0 ? (float) Math.log(0.25) : 0;
      assertThat(sampled[i]).isEqualTo(all[i] + offset);
    }
    assertThatThrownBy(() -> CLICK.withNegativeRate(1.5f))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got 1.5 as the share of negative rows");
  }
}
