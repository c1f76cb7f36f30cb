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
import dev.tern.metrics.ClassMetrics;
import dev.tern.metrics.TaskMetrics;
import dev.tern.metrics.ValueMetrics;
import dev.tern.model.Loss;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Models trained by each loss: what they come to predict, and what checkpoints know. */
final class LossTrainingTest {
  @TempDir Path folder;

  private static final Schema SCHEMA =
      new Schema(List.of("y"), List.of("x"), List.of(Slot.oneHot("ad")));

  static List<Loss> losses() {
    return List.of(
        Loss.SOFT_CROSS_ENTROPY,
        Loss.SQUARED_ERROR,
        Loss.ABSOLUTE_ERROR,
        new Loss.Huber(0.5f),
        Loss.POISSON,
        new Loss.Focal(2, 0.25f));
  }

  private static double logit(float x, int ad) {
    return 0.5 * x + 0.3 * (ad % 4) - 0.4;
  }

  /** Rows whose logit is planted, with labels around what it predicts. */
  private static Batch rows(Loss loss, long seed, int count) {
    Batch batch = new Batch(SCHEMA, count);
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      float x = random.nextFloat(-1, 1);
      int ad = random.nextInt(12);
      double logit = logit(x, ad);
      double p = 1 / (1 + Math.exp(-logit));
      batch.setLabel(
          0,
          switch (loss) {
            case Loss.BinaryCrossEntropy _ -> (float) p;
            case Loss.Focal _ -> random.nextDouble() < p ? 1 : 0;
            case Loss.Poisson _ -> poisson(Math.exp(logit), random);
            default -> (float) (logit + 0.1 * random.nextGaussian());
          });
      batch.setDense(0, x);
      batch.addId(0, ad);
      batch.endRow();
    }
    return batch;
  }

  private static int poisson(double mean, Random random) {
    double product = random.nextDouble();
    int count = 0;
    while (product > Math.exp(-mean)) {
      product *= random.nextDouble();
      count++;
    }
    return count;
  }

  private static FeatureEncoder encoder(Schema schema) {
    return FeatureEncoder.fit(
        Readers.inMemory(schema, List.of()),
        List.of(NumberEncoding.none()),
        List.of(IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  private static ModelConfig model(Task... tasks) {
    return ModelConfig.of(ModelConfig.Type.LR, 1)
        .withTowers(new Towers(List.of(tasks), List.of(), 1, List.of()));
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.05f))
        .schedule(LearningRate.warmupDecay(0.05f, 1, 100, 200))
        .batch(200)
        .epochs(10)
        .shuffleRows(10_000);
  }

  @ParameterizedTest
  @MethodSource("losses")
  void predictionsComeToThePlantedOnesAndCheckpointsKnowTheLoss(Loss loss) {
    Task task = Task.of("y").withLoss(loss);
    Batch held = rows(loss, 2, 2000);
    List<Progress> reports = new ArrayList<>();
    Path saved = folder.resolve("saved");
    TaskMetrics.Result result;
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(SCHEMA), model(task), options())) {
      trainer.fit(
          Readers.inMemory(rows(loss, 1, 6000)), Optional.of(Readers.inMemory(held)), reports::add);
      result = trainer.evaluateTasks(Readers.inMemory(held)).getFirst();
      assertThat(trainer.best()).isFinite();
      trainer.save(saved);
    }
    assertThat(reports.getLast().tasks()).containsExactly(result);
    assertThat(result.rows()).isEqualTo(2000);
    if (loss.isOfProbability()) {
      assertThat(result.values()).isEmpty();
      assertThat(result.metrics().auc()).isGreaterThan(0.54);
    } else {
      ValueMetrics.Result values = result.values().orElseThrow();
      assertThat(values.r2()).isGreaterThan(loss.equals(Loss.POISSON) ? 0.1 : 0.9);
      assertThat(values.loss()).isEqualTo(result.loss());
    }
    try (Predictor predictor = Predictor.open(Checkpoint.open(saved), ScoreOptions.DEFAULT)) {
      assertThat(predictor.tasks()).containsExactly(task);
      double most = 0;
      for (int ad = 0; ad < 12; ad++) {
        float expected = loss.predicted((float) logit(0.5f, ad));
        float score = predictor.score(Map.of("x", 0.5f, "ad", ad));
        assertThat(predictor.scores(Map.of("x", 0.5f, "ad", ad))).containsExactly(score);
        most = Math.max(most, Math.abs(score - expected));
      }
      assertThat(most).isLessThan(loss instanceof Loss.Focal ? 0.35 : 0.2);
      float[] logits = new float[2000];
      predictor.logits(held, logits);
      float[] scores = predictor.score(held);
      for (int row = 0; row < 2000; row += 97) {
        assertThat(scores[row]).isEqualTo(loss.predicted(logits[row]));
      }
    }
  }

  private static double[] planted(float x, int ad) {
    double[] p = {Math.exp(2 * x), Math.exp(0.5 * (ad % 4)), Math.exp(-x)};
    double sum = p[0] + p[1] + p[2];
    return new double[] {p[0] / sum, p[1] / sum, p[2] / sum};
  }

  private static Batch rowsOfClasses(long seed, int count) {
    Batch batch = new Batch(SCHEMA, count);
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      float x = random.nextFloat(-1, 1);
      int ad = random.nextInt(12);
      double[] p = planted(x, ad);
      double draw = random.nextDouble();
      batch.setLabel(0, draw < p[0] ? 0 : draw < p[0] + p[1] ? 1 : 2);
      batch.setDense(0, x);
      batch.addId(0, ad);
      batch.endRow();
    }
    return batch;
  }

  @Test
  void probabilitiesOfClassesComeToThePlantedOnes() {
    List<Task> classes = Task.ofClasses("y", 3);
    ModelConfig model =
        ModelConfig.of(ModelConfig.Type.SHAREDBOTTOM, 4, 8)
            .withTowers(new Towers(classes, List.of(), 1, List.of()));
    Batch held = rowsOfClasses(2, 2000);
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(SCHEMA), model, options())) {
      trainer.fit(
          Readers.inMemory(rowsOfClasses(1, 8000)), Optional.of(Readers.inMemory(held)), _ -> {});
      ClassMetrics.Result result =
          trainer.evaluateTasks(Readers.inMemory(held)).getFirst().classes().orElseThrow();
      assertThat(result.accuracy()).isGreaterThan(0.5);
      assertThat(trainer.best()).isLessThanOrEqualTo(result.logLoss());
      Batch encoded = new Batch(trainer.encoder().schema(), 2000);
      trainer.encoder().apply(held, encoded);
      double loss = trainer.step(encoded).loss();
      assertThat(loss).isCloseTo(result.logLoss(), within(1e-4));
      trainer.save(saved);
    }
    try (Predictor predictor = Predictor.open(Checkpoint.open(saved), ScoreOptions.DEFAULT)) {
      assertThat(predictor.tasks()).isEqualTo(classes);
      for (int ad = 0; ad < 12; ad++) {
        float[] scores = predictor.scores(Map.of("x", 0.5f, "ad", ad));
        double[] expected = planted(0.5f, ad);
        for (int k = 0; k < 3; k++) {
          assertThat((double) scores[k]).isCloseTo(expected[k], within(0.12));
        }
        assertThat(scores[0] + scores[1] + scores[2]).isCloseTo(1, within(1e-6f));
      }
    }
  }

  @Test
  void aNumberThatIsNoClassIsRefused() {
    Batch rows = rowsOfClasses(1, 3);
    rows.labels()[1] = 3;
    ModelConfig model =
        ModelConfig.of(ModelConfig.Type.SHAREDBOTTOM, 4, 8)
            .withTowers(new Towers(Task.ofClasses("y", 3), List.of(), 1, List.of()));
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(SCHEMA), model, options())) {
      Batch encoded = new Batch(trainer.encoder().schema(), 3);
      trainer.encoder().apply(rows, encoded);
      assertThatThrownBy(() -> trainer.step(encoded))
          .hasMessageContaining(
              "train: got the label y 3.0 in row 1 of a batch, expected a whole number from 0 to"
                  + " 2");
    }
  }

  @Test
  void tasksOfSeveralLossesTrainSideBySideAsEachOfThemAlone() {
    Schema both = new Schema(List.of("y", "z"), List.of("x"), SCHEMA.slots());
    Batch rows = new Batch(both, 1);
    Random random = new Random(4);
    for (int i = 0; i < 64; i++) {
      rows.setLabel(0, random.nextInt(2));
      rows.setLabel(1, random.nextFloat(-3, 9));
      rows.setDense(0, random.nextFloat(-1, 1));
      rows.addId(0, random.nextInt(12));
      rows.endRow();
    }
    Task click = Task.of("y");
    Task price = Task.of("z").withLoss(new Loss.Huber(2)).withWeight(0.25f).within("y");
    ModelConfig model =
        ModelConfig.of(ModelConfig.Type.SHAREDBOTTOM, 4, 8)
            .withTowers(new Towers(List.of(click, price), List.of(4), 1, List.of()));
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(device, encoder(both), model, TrainOptions.of(Optimizer.sgd(0.1f)))) {
      Batch encoded = new Batch(trainer.encoder().schema(), 64);
      trainer.encoder().apply(rows, encoded);
      TaskMetrics metrics = new TaskMetrics(trainer.network().tasks());
      float loss = trainer.step(encoded).loss();
      metrics.addLogits(trainer.logits(), encoded);
      List<TaskMetrics.Result> results = metrics.results();
      double expected = results.get(0).loss() + 0.25 * results.get(1).loss();
      assertThat((double) loss).isCloseTo(expected, within(1e-5));
      assertThat(results.get(1).values().orElseThrow().rows())
          .isEqualTo(results.get(0).metrics().positives());
    }
  }

  /** Rows of two labels, each of which some rows lack. */
  private static Batch someLabels(int count) {
    Batch rows = new Batch(new Schema(List.of("y", "z"), List.of("x"), SCHEMA.slots()), 1);
    Random random = new Random(4);
    for (int i = 0; i < count; i++) {
      rows.setLabel(0, i % 3 == 0 ? Float.NaN : random.nextInt(2));
      rows.setLabel(1, i % 4 == 1 ? Float.NaN : random.nextInt(3));
      rows.setDense(0, random.nextFloat(-1, 1));
      rows.addId(0, random.nextInt(12));
      rows.endRow();
    }
    return rows;
  }

  @Test
  void aRowWithoutALabelCountsForTheOtherTasksAlone() {
    Batch rows = someLabels(60);
    List<Task> tasks = new ArrayList<>(List.of(Task.of("y").withOptionalLabel()));
    Task.ofClasses("z", 3).forEach(task -> tasks.add(task.withWeight(0.5f).withOptionalLabel()));
    ModelConfig model =
        ModelConfig.of(ModelConfig.Type.SHAREDBOTTOM, 4, 8)
            .withTowers(new Towers(tasks, List.of(4), 1, List.of()));
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(
                device, encoder(rows.schema()), model, TrainOptions.of(Optimizer.sgd(0.1f)))) {
      Batch encoded = new Batch(trainer.encoder().schema(), 60);
      trainer.encoder().apply(rows, encoded);
      TaskMetrics metrics = new TaskMetrics(trainer.network().tasks());
      float loss = trainer.step(encoded).loss();
      metrics.addLogits(trainer.logits(), encoded);
      List<TaskMetrics.Result> results = metrics.results();
      assertThat(results.get(0).rows()).isEqualTo(40);
      ClassMetrics.Result classes = results.get(1).classes().orElseThrow();
      assertThat(classes.rows()).isEqualTo(45);
      assertThat(results.get(1).rows()).isEqualTo(45);
      double expected = results.get(0).loss() + 0.5 * classes.logLoss();
      assertThat((double) loss).isCloseTo(expected, within(1e-5));
      assertThat(trainer.evaluateTasks(Readers.inMemory(rows)).getFirst().rows()).isEqualTo(40);
      trainer.save(saved);
    }
    try (Predictor predictor = Predictor.open(Checkpoint.open(saved), ScoreOptions.DEFAULT)) {
      assertThat(predictor.tasks()).isEqualTo(tasks);
    }
  }

  @Test
  void rowsWithoutALabelTrainAsIfTheyWereNotThere() {
    Batch some = someLabels(60);
    Schema one = new Schema(List.of("y"), List.of("x"), SCHEMA.slots());
    Batch all = new Batch(one, 1);
    Batch labelled = new Batch(one, 1);
    for (int row = 0; row < 60; row++) {
      float label = some.labels()[2 * row];
      for (Batch to : Float.isNaN(label) ? List.of(all) : List.of(all, labelled)) {
        to.setLabel(0, label);
        to.setDense(0, some.dense()[row]);
        to.addId(0, some.ids(0)[row]);
        to.endRow();
      }
    }
    float[] lost = new float[2];
    List<Batch> both = List.of(all, labelled);
    for (int k = 0; k < 2; k++) {
      Task task = Task.of("y");
      ModelConfig model = model(k == 0 ? task.withOptionalLabel() : task);
      try (Device device = Device.cpu(1, 1L << 27);
          Trainer trainer =
              Trainer.create(device, encoder(one), model, TrainOptions.of(Optimizer.sgd(0.5f)))) {
        Batch encoded = new Batch(trainer.encoder().schema(), 60);
        trainer.encoder().apply(both.get(k), encoded);
        trainer.step(encoded);
        lost[k] = trainer.step(encoded).loss();
      }
    }
    assertThat(lost[0]).isCloseTo(lost[1], within(1e-6f));
    ModelConfig strict = model(Task.of("y"));
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(device, encoder(one), strict, TrainOptions.of(Optimizer.sgd(0.5f)))) {
      Batch encoded = new Batch(trainer.encoder().schema(), 60);
      trainer.encoder().apply(all, encoded);
      assertThatThrownBy(() -> trainer.step(encoded))
          .hasMessageContaining("got no label y in row 0 of a batch");
    }
  }

  @Test
  void labelsThatALossDoesNotAcceptAreRefused() {
    Batch rows = rows(Loss.SQUARED_ERROR, 1, 3);
    rows.labels()[1] = -2;
    for (Loss loss : List.of(Loss.BINARY_CROSS_ENTROPY, Loss.SOFT_CROSS_ENTROPY, Loss.POISSON)) {
      rows.labels()[0] = loss.accepts(0.5f) ? 0.5f : 1;
      try (Device device = Device.cpu(1, 1L << 27);
          Trainer trainer =
              Trainer.create(
                  device, encoder(SCHEMA), model(Task.of("y").withLoss(loss)), options())) {
        Batch encoded = new Batch(trainer.encoder().schema(), 3);
        trainer.encoder().apply(rows, encoded);
        assertThatThrownBy(() -> trainer.step(encoded))
            .hasMessageContaining(
                "train: got the label y -2.0 in row 1 of a batch, expected " + loss.accepted());
      }
    }
  }

  @Test
  void aRunGoesOnWithItsOwnLossAlone() {
    Batch rows = rows(Loss.POISSON, 1, 500);
    Path saved = folder.resolve("saved");
    ModelConfig model = model(Task.of("y").withLoss(Loss.POISSON));
    try (Device device = Device.cpu(1, 1L << 27)) {
      try (Trainer trainer = Trainer.create(device, encoder(SCHEMA), model, options().epochs(1))) {
        trainer.fit(Readers.inMemory(rows));
        trainer.save(saved);
      }
      Trainer.resume(device, saved, model, options()).close();
      ModelConfig other = model(Task.of("y").withLoss(new Loss.Huber(3)));
      assertThatThrownBy(() -> Trainer.resume(device, saved, other, options()))
          .hasMessageContaining("resume: got ")
          .hasMessageContaining("huber")
          .hasMessageContaining("poisson");
    }
  }

  @Test
  void figuresOfValuesAreThoseOfKnownRows() {
    ValueMetrics metrics = new ValueMetrics(Loss.SQUARED_ERROR);
    assertThat(metrics.result().mse()).isNaN();
    metrics.add(1, 1, 1);
    metrics.add(2, 2, 1);
    metrics.add(2, 3, 1);
    ValueMetrics.Result plain = metrics.result();
    assertThat(plain.mse()).isCloseTo(1 / 3.0, within(1e-12));
    assertThat(plain.mae()).isCloseTo(1 / 3.0, within(1e-12));
    assertThat(plain.r2()).isCloseTo(0.5, within(1e-12));
    assertThat(plain.smape()).isCloseTo(2 / 5.0 / 3, within(1e-12));
    assertThat(plain.calibration()).isCloseTo(5 / 6.0, within(1e-12));
    metrics.clear();
    metrics.add(0, 0, 2);
    metrics.add(-1, 1, 3);
    metrics.add(9, 1, 0);
    ValueMetrics.Result weighted = metrics.result();
    assertThat(weighted.rows()).isEqualTo(3);
    assertThat(weighted.mse()).isCloseTo(12 / 5.0, within(1e-12));
    assertThat(weighted.smape()).isCloseTo(2 * 3 / 5.0, within(1e-12));
    // Labels 0, 0, 1, 1, 1: the sum of squares about their mean is 1.2.
    assertThat(weighted.r2()).isCloseTo(1 - 12 / 1.2, within(1e-12));
    assertThatThrownBy(() -> metrics.add(Float.NaN, 1, 1))
        .hasMessageContaining("score NaN in row 3");
    assertThatThrownBy(() -> metrics.add(1, Float.NaN, 1)).hasMessageContaining("label NaN");
    assertThatThrownBy(() -> metrics.add(1, 1, -1)).hasMessageContaining("weight -1.0");
    assertThatThrownBy(() -> new ValueMetrics(Loss.POISSON).add(1, -1, 1))
        .hasMessageContaining("expected a finite number of 0 or more");
  }

  @Test
  void theFigureThatDecidesIsOneOfTheTask() {
    Task price = Task.of("y").withLoss(Loss.SQUARED_ERROR);
    for (Monitor.Figure figure : Monitor.Figure.values()) {
      boolean ofValues = List.of("AUC", "MSE", "MAE", "R2", "SMAPE").contains(figure.name());
      Monitor monitor = Monitor.of(figure);
      if (figure == Monitor.Figure.RECALL) {
        continue; // Of a model of two towers, not of a task.
      }
      if (ofValues) {
        assertThat(monitor.index(List.of(price))).isZero();
      } else {
        boolean grouped = figure == Monitor.Figure.GAUC;
        assertThatThrownBy(() -> monitor.index(List.of(price)))
            .hasMessageContaining(
                grouped
                    ? "expected a task of labels 0 and 1"
                    : "expected a figure of values: MSE, MAE, R2 or SMAPE");
      }
      boolean ofProbabilities =
          List.of("AUC", "GAUC", "LOG_LOSS", "NORMALIZED_ENTROPY").contains(figure.name());
      if (!ofProbabilities) {
        assertThatThrownBy(() -> monitor.index(List.of(Task.of("y"))))
            .hasMessageContaining("expected a figure of probabilities");
      }
    }
    assertThat(Monitor.AUC.name(true)).isEqualTo("loss");
    assertThat(new Monitor(Monitor.Figure.R2, "y").name(true)).isEqualTo("R2 of y");
  }

  @Test
  void rowsWithinALabelOfValuesAreRefused() {
    Schema both = new Schema(List.of("y", "z"), List.of("x"), SCHEMA.slots());
    assertThatThrownBy(() ->
            dev.tern.model.TaskLabels.of(
                both, List.of(Task.of("y").withLoss(Loss.POISSON), Task.of("z").within("y"))))
        .hasMessageContaining("task z: got rows within y, whose loss is poisson");
  }
}
