package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.data.readers.Readers;
import dev.tern.metrics.TaskMetrics;
import dev.tern.model.Loss;
import dev.tern.model.ModelConfig;
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

/** Models that learn the order of the rows of a group. */
final class PairwiseTrainingTest {
  @TempDir Path folder;

  private static final Schema FEATURES =
      new Schema(List.of("y", "z"), List.of("x"), List.of(Slot.oneHot("ad")));
  private static final Schema ROWS =
      new Schema(List.of("y", "z"), List.of("x"), List.of(Slot.oneHot("ad"), Slot.oneHot("user")));
  private static final Loss BPR = new Loss.Pairwise("user");

  private static void add(Batch batch, int number, long user, float weight) {
    batch.setLabel(0, number % 3 == 0 ? 1 : 0);
    batch.setLabel(1, number % 5 < 2 ? 1 : 0);
    batch.setDense(0, (number % 7) / 3f - 1);
    batch.addId(0, number % 5);
    batch.addId(1, user);
    if (batch.schema().weighted()) {
      batch.setRowWeight(weight);
    }
    batch.endRow();
  }

  private static FeatureEncoder encoder(Schema schema) {
    return FeatureEncoder.fit(
        Readers.inMemory(schema, List.of()),
        List.of(NumberEncoding.none()),
        schema.slots().stream().map(_ -> (IdEncoding) IdEncoding.verbatim()).toList(),
        TextDictionary.none(),
        read -> {});
  }

  private static ModelConfig model(Task... tasks) {
    ModelConfig.Type type = tasks.length == 1 ? ModelConfig.Type.LR : ModelConfig.Type.SHAREDBOTTOM;
    return ModelConfig.of(type, 4, tasks.length == 1 ? new Integer[0] : new Integer[] {8})
        .withTowers(new Towers(List.of(tasks), List.of(), 1, List.of()));
  }

  /** One step on all of {@code rows}: its loss and logits before. */
  private static TrainedStep step(Schema features, Batch rows, Task... tasks) {
    TrainOptions options =
        TrainOptions.of(Optimizer.sgd(0.5f)).batch(rows.size()).shuffleRows(0).epochs(2);
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(features), model(tasks), options);
        TrainingBatches batches = trainer.batches(Readers.inMemory(rows))) {
      // The second pass: the first begins with equal logits.
      batches.forEach(trainer::step);
      List<TrainedStep> steps = new ArrayList<>();
      for (Batch batch : batches) {
        float loss = trainer.step(batch).loss();
        steps.add(new TrainedStep(loss, trainer.logits().clone()));
      }
      return steps.getFirst();
    }
  }

  private record TrainedStep(float loss, float[] logits) {}

  private static double plain(TrainedStep step, Batch rows, int label, int count) {
    double sum = 0;
    double pairs = 0;
    int labels = rows.schema().labelDim();
    for (int i = 0; i < rows.size(); i++) {
      for (int j = 0; j < rows.size(); j++) {
        long user = rows.ids(1)[i];
        if (rows.labels()[i * labels + label] == 1
            && rows.labels()[j * labels + label] == 0
            && user == rows.ids(1)[j]
            && user != TextHash.EMPTY) {
          double weight = (double) rows.rowWeight(i) * rows.rowWeight(j);
          double ahead =
              step.logits()[j * count + label] - (double) step.logits()[i * count + label];
          sum += weight * Math.log1p(Math.exp(ahead));
          pairs += weight;
        }
      }
    }
    return sum / pairs;
  }

  @Test
  void theLossIsTheMeanOverThePairsOfEachGroupAndRowsWithoutAGroupHaveNone() {
    Batch rows = new Batch(ROWS, 1);
    for (int n = 0; n < 40; n++) {
      add(rows, n, n % 4 == 3 ? TextHash.EMPTY : n % 4 - 1, 1);
    }
    TrainedStep one = step(FEATURES, rows, y());
    assertThat((double) one.loss()).isCloseTo(plain(one, rows, 0, 1), within(1e-5));
    TrainedStep two = step(FEATURES, rows, y(), Task.of("z").withLoss(BPR).withWeight(0.25f));
    double expected = plain(two, rows, 0, 2) + 0.25 * plain(two, rows, 1, 2);
    assertThat((double) two.loss()).isCloseTo(expected, within(1e-5));
  }

  private static Task y() {
    return Task.of("y").withLoss(BPR);
  }

  @Test
  void aRowOfWeightTwoMakesThePairsOfTwoRows() {
    Schema weighted = ROWS.withWeight(Optional.of("w"));
    Batch rows = new Batch(weighted, 1);
    Batch repeated = new Batch(ROWS, 1);
    int[] times = {2, 1, 0, 3, 1, 1, 4, 2, 5, 1};
    for (int n = 0; n < times.length; n++) {
      add(rows, n, n % 2, times[n]);
      for (int k = 0; k < times[n]; k++) {
        add(repeated, n, n % 2, 1);
      }
    }
    TrainedStep one = step(FEATURES.withWeight(Optional.of("w")), rows, y());
    assertThat((double) one.loss()).isCloseTo(plain(one, rows, 0, 1), within(1e-5));
    assertThat(one.loss()).isCloseTo(step(FEATURES, repeated, y()).loss(), within(2e-6f));
    Batch huge = new Batch(weighted, 1);
    for (int n = 0; n < times.length; n++) {
      add(huge, n, n % 2, 2e37f * times[n]);
    }
    assertThat(step(FEATURES.withWeight(Optional.of("w")), huge, y()).loss())
        .isCloseTo(one.loss(), within(1e-5f));
  }

  @Test
  void aBatchWithoutPairsHasTheLossZero() {
    Batch rows = new Batch(ROWS, 1);
    for (int n = 0; n < 9; n++) {
      add(rows, n, n, 1);
    }
    assertThat(step(FEATURES, rows, y()).loss()).isZero();
  }

  /** Rows whose order within a user depends on {@code x} and the ad; the user's rate hides it. */
  private static Batch planted(long seed, int count) {
    Batch rows = new Batch(ROWS, count);
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      int user = i / 20;
      float x = random.nextFloat(-1, 1);
      int ad = random.nextInt(5);
      double logit = 2 * x + 0.5 * ad + (user % 9 - 4) - 1;
      rows.setLabel(0, random.nextDouble() < 1 / (1 + Math.exp(-logit)) ? 1 : 0);
      rows.setLabel(1, 0);
      rows.setDense(0, x);
      rows.addId(0, ad);
      rows.addId(1, user);
      rows.endRow();
    }
    return rows;
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.02f))
        .batch(200)
        .epochs(4)
        .shuffleRows(400)
        .group("user")
        .monitor(Monitor.of(Monitor.Figure.GAUC));
  }

  @Test
  void ordersComeToThePlantedOnesAndCheckpointsKnowTheLoss() {
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(FEATURES), model(y()), options())) {
      Batch held = planted(2, 2000);
      trainer.fit(Readers.inMemory(planted(1, 8000)), Optional.of(Readers.inMemory(held)), _ -> {});
      TaskMetrics.Result result = trainer.evaluateTasks(Readers.inMemory(held)).getFirst();
      assertThat(result.values()).isEmpty();
      assertThat(result.groups().orElseThrow().auc().byRows()).isGreaterThan(0.78);
      assertThat(trainer.best()).isGreaterThan(0.78);
      trainer.save(saved);
    }
    try (Predictor predictor = Predictor.open(Checkpoint.open(saved), ScoreOptions.DEFAULT)) {
      assertThat(predictor.hasOwnLoss()).isTrue();
      assertThat(predictor.tasks()).containsExactly(y());
      float less = predictor.score(Map.of("x", -0.5f, "ad", 2));
      float more = predictor.score(Map.of("x", 0.5f, "ad", 2));
      assertThat(more - less).isCloseTo(2, within(0.4f));
      Batch row = new Batch(FEATURES, 1);
      row.setDense(0, 0.5f);
      row.addId(0, 2);
      row.endRow();
      float[] logits = new float[1];
      predictor.logits(row, logits);
      assertThat(logits).containsExactly(more);
    }
  }

  private byte[] run(int threads, boolean stops, String name) throws IOException {
    Path saved = folder.resolve(name);
    try (Device device = Device.cpu(threads, 1L << 27);
        Trainer trainer =
            Trainer.create(device, encoder(FEATURES), model(y()), options().epochs(1))) {
      trainer.fit(Readers.inMemory(planted(1, 1000)));
      trainer.save(stops ? folder.resolve(name + "-half") : saved);
      if (!stops) {
        return last(trainer, saved);
      }
    }
    try (Device device = Device.cpu(threads, 1L << 27);
        Trainer trainer =
            Trainer.resume(
                device, folder.resolve(name + "-half"), model(y()), options().epochs(1))) {
      return last(trainer, saved);
    }
  }

  private static byte[] last(Trainer trainer, Path saved) throws IOException {
    Batch rows = planted(3, 400);
    try (TrainingBatches batches = trainer.batches(Readers.inMemory(rows))) {
      for (Batch batch : batches) {
        trainer.step(batch);
      }
    }
    trainer.save(saved);
    return PlantedRuns.contents(saved);
  }

  @Test
  void weightsAreTheSameOnAnyNumberOfThreadsStoppedOrNot() throws IOException {
    byte[] expected = run(1, false, "one");
    assertThat(run(3, false, "three")).isEqualTo(expected);
    assertThat(run(1, true, "resumed")).isEqualTo(expected);
  }

  @Test
  void rowsWithoutTheColumnOrWithSeveralValuesAreRefused() {
    Batch without = new Batch(FEATURES, 1);
    without.setDense(0, 0);
    without.addId(0, 1);
    without.endRow();
    Schema several =
        new Schema(
            FEATURES.labels(),
            FEATURES.dense(),
            List.of(ROWS.slots().getFirst(), Slot.ragged("user")));
    Batch two = new Batch(several, 1);
    add(two, 0, 1, 1);
    add(two, 1, 1, 1);
    two.setLabel(0, 1);
    two.setLabel(1, 1);
    two.setDense(0, 0);
    two.addId(0, 1);
    two.addId(1, 4);
    two.addId(1, 5);
    two.endRow();
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(FEATURES), model(y()), options())) {
      assertThatThrownBy(() -> trainer.batches(Readers.inMemory(without)))
          .hasMessageContaining("groups: got the column user, expected a column of ids among [ad]");
      Batch encoded = new Batch(trainer.encoder().schema(), 1);
      trainer.encoder().apply(without, encoded);
      assertThatThrownBy(() -> trainer.step(encoded))
          .hasMessageContaining("got a batch without groups for the loss bpr(group=user)");
      assertThatThrownBy(() -> trainer.fit(Readers.inMemory(two)))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("got 2 values of user in row");
    }
  }

  @Test
  void otherLossesAndFiguresOfProbabilitiesAreRefusedBesideIt() {
    assertThatThrownBy(() -> model(y(), Task.of("z")))
        .hasMessageContaining("expected bpr of one column for all tasks or for none");
    assertThatThrownBy(() -> model(y(), Task.of("z").withLoss(new Loss.Pairwise("ad"))))
        .hasMessageContaining("bpr(group=ad)");
    assertThatThrownBy(() -> new Loss.Pairwise("")).hasMessageContaining("no column of groups");
    assertThatThrownBy(() -> BPR.value(0, 1)).isInstanceOf(UnsupportedOperationException.class);
    TrainOptions losses = options().monitor(Monitor.of(Monitor.Figure.LOG_LOSS));
    try (Device device = Device.cpu(1, 1L << 27)) {
      assertThatThrownBy(() -> Trainer.create(device, encoder(FEATURES), model(y()), losses))
          .hasMessageContaining("whose scores are no probabilities, expected AUC or GAUC");
    }
  }
}
