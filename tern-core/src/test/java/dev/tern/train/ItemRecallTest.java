package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.readers.Readers;
import dev.tern.metrics.RetrievalMetrics;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recall of two towers in evaluations, beside a predictor's scores of all pairs. */
final class ItemRecallTest {
  private static final int AT = 4;
  private static final Batch TRAIN = PlantedRuns.planted(1, 600);
  private static final Batch TEST = PlantedRuns.planted(2, 300);
  private static final ModelConfig MODEL =
      ModelConfig.of(ModelConfig.Type.TWOTOWER, 6, 12, 5).withMatching(Matching.of("ad", "price"));

  @TempDir Path folder;

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.lazyAdam(0.02f)).batch(50).epochs(3).shuffleRows(100);
  }

  private Trainer trainer(Device device, TrainOptions options) {
    return Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, options);
  }

  @Test
  void recallIsTheShareOfRowsWhoseItemIsAmongTheBestOfAllItems() {
    Path saved = folder.resolve("saved");
    RetrievalMetrics.Result recall;
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = trainer(device, options().recallAt(AT))) {
      trainer.fit(Readers.inMemory(TRAIN));
      recall = trainer.evaluateTasks(Readers.inMemory(TEST)).getFirst().retrieval().orElseThrow();
      assertThat(trainer.evaluateTasks(Readers.inMemory(TEST)).getFirst().retrieval())
          .as("the same again")
          .contains(recall);
      trainer.save(saved);
    }
    Map<Long, Integer> items = new LinkedHashMap<>();
    for (int row = 0; row < TEST.size(); row++) {
      items.putIfAbsent(TEST.ids(1)[row], row);
    }
    assertThat(recall.candidates()).isEqualTo(items.size()).isEqualTo(30);
    assertThat(recall.at()).isEqualTo(AT);
    int positives = 0;
    int surely = 0;
    int perhaps = 0;
    try (Predictor predictor = Predictor.open(saved)) {
      for (int row = 0; row < TEST.size(); row++) {
        if (TEST.labels()[row] == 1) {
          float[] logits = new float[items.size()];
          predictor.logits(pairs(row, items), logits);
          float own = logits[List.copyOf(items.keySet()).indexOf(TEST.ids(1)[row])];
          int above = 0;
          int near = 0;
          for (float logit : logits) { // A product's sum may round otherwise.
            above += logit > own + 1e-4f ? 1 : 0;
            near += Math.abs(logit - own) <= 1e-4f ? 1 : 0;
          }
          positives++;
          surely += above + near <= AT ? 1 : 0;
          perhaps += above < AT ? 1 : 0;
        }
      }
    }
    assertThat(recall.rows()).isEqualTo(positives);
    assertThat(recall.recall() * positives).isBetween(surely - 0.01, perhaps + 0.01);
    assertThat(perhaps - surely).isLessThanOrEqualTo(2);
    assertThat(surely).isBetween(positives / 10, 9 * positives / 10);
  }

  /** The user of a row with each item. */
  private static Batch pairs(int row, Map<Long, Integer> items) {
    Schema schema = TEST.schema();
    Batch pairs = new Batch(schema, items.size());
    items.forEach((item, first) -> {
      pairs.setLabel(0, 0);
      pairs.setDense(0, TEST.dense()[2 * row]);
      pairs.setDense(1, TEST.dense()[2 * first + 1]);
      pairs.addId(0, TEST.ids(0)[row]);
      pairs.addId(1, item);
      for (int i = TEST.offsets(2)[row]; i < TEST.offsets(2)[row + 1]; i++) {
        pairs.addId(2, TEST.ids(2)[i]);
      }
      pairs.endRow();
    });
    return pairs;
  }

  @Test
  void rowsInPiecesOfAnySizeGiveTheSameFigure() {
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = trainer(device, options().recallAt(AT))) {
      Optional<RetrievalMetrics.Result> whole =
          trainer.evaluateTasks(Readers.inMemory(TEST)).getFirst().retrieval();
      DataReader pieces = Readers.batched(Readers.inMemory(TEST), 7, false);
      assertThat(trainer.evaluateTasks(pieces).getFirst().retrieval()).isEqualTo(whole);
    }
  }

  @Test
  void trainingHasTheSameBitsWithItAndWithout() throws IOException {
    byte[] without = saved(options(), "without");
    assertThat(saved(options().recallAt(AT), "with")).isEqualTo(without);
  }

  private byte[] saved(TrainOptions options, String name) throws IOException {
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = trainer(device, options)) {
      trainer.fit(
          Readers.inMemory(TRAIN), Optional.of(Readers.inMemory(TEST)), Progress.Listener.none());
      trainer.save(folder.resolve(name));
    }
    return PlantedRuns.contents(folder.resolve(name));
  }

  @Test
  void theBestEvaluationIsTheOneOfTheHighestRecall() {
    TrainOptions options =
        options().recallAt(AT).monitor(Monitor.of(Monitor.Figure.RECALL)).earlyStop(3).epochs(12);
    List<Progress> evaluations = new ArrayList<>();
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = trainer(device, options)) {
      trainer.fit(
          Readers.inMemory(TRAIN),
          Optional.of(Readers.inMemory(TEST)),
          report -> {
            if (report.split() == Progress.Split.EVAL) {
              evaluations.add(report);
            }
          });
      Progress best = evaluations.getFirst();
      for (Progress each : evaluations) {
        best = recall(each) > recall(best) ? each : best;
      }
      assertThat(trainer.best()).isEqualTo(recall(best));
      assertThat(trainer.bestStep()).isEqualTo(best.step());
      assertThat(options.monitored()).isEqualTo("recall at 4");
    }
  }

  private static double recall(Progress report) {
    return report.tasks().getFirst().retrieval().orElseThrow().recall();
  }

  @Test
  void rowsCountByTheirWeights() {
    RetrievalMetrics metrics = new RetrievalMetrics(3);
    assertThat(metrics.result(5).recall()).isNaN();
    metrics.add(true, 1);
    metrics.add(true, 2);
    metrics.add(false, 1);
    metrics.add(true, 0);
    assertThat(metrics.result(5)).isEqualTo(new RetrievalMetrics.Result(3, 5, 3, 0.75));
    assertThatThrownBy(() -> metrics.add(true, Float.NaN))
        .hasMessageContaining("weight NaN in row 3");
    assertThatThrownBy(() -> new RetrievalMetrics(0)).hasMessageContaining("got the best 0 items");
  }

  @Test
  void otherModelsAndAMonitorWithoutANumberOfItemsAreRefused() {
    try (Device device = Device.cpu(1, 1L << 28)) {
      ModelConfig deep = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
      TrainOptions options = options().recallAt(AT);
      assertThatThrownBy(() -> Trainer.create(device, PlantedRuns.encoder(TRAIN), deep, options))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got recallAt 4 for a model without vectors of items");
      TrainOptions none = options().monitor(Monitor.of(Monitor.Figure.RECALL));
      assertThatThrownBy(() -> trainer(device, none))
          .hasMessageContaining("got the monitor RECALL without recallAt");
    }
    assertThatThrownBy(() -> options().recallAt(10_001)).hasMessageContaining("got recallAt 10001");
  }
}
