package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.config.InitialWeights;
import dev.tern.embedding.config.OwnOptions;
import dev.tern.embedding.config.TableOptions;
import dev.tern.model.ModelConfig;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs whose tables have options of their own. */
final class OwnTablesTrainingTest {
  private static final Batch ROWS = PlantedRuns.planted(1, 600);
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.WDL, 4, 8);
  private static final OwnOptions OWN =
      OwnOptions.NONE
          .optimizer(Optimizer.adagrad(0.05f))
          .storage(DType.BF16)
          .l2(0.01f)
          .initial(new InitialWeights.Normal(0.1f));

  @TempDir private Path folder;

  private static TrainOptions options(UnaryOperator<TableOptions> tables) {
    return TrainOptions.of(Optimizer.sgd(0.1f)).batch(50).shuffleRows(0).tables(tables);
  }

  private Path saved(Device device, TrainOptions options) {
    Path target = folder.resolve("saved");
    try (Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, options)) {
      trainer.fit(Readers.inMemory(ROWS));
      trainer.save(target);
    }
    return target;
  }

  @Test
  void aTableHasItsOptionsBesideTheOptimizerOfLinearWeightsAndScoresWithThem() {
    TrainOptions options =
        options(t ->
                t.own("ad", OWN)
                    .own("tags", OwnOptions.NONE.initial(InitialWeights.ZEROS))
                    .firstPart(new Optimizer.Ftrl(0.2f, 1, 0, 0)))
            .epochs(20);
    try (Device device = Device.cpu(1, 1L << 27)) {
      Path saved = saved(device, options);
      float[] expected = new float[ROWS.size()];
      try (Trainer trainer = Trainer.resume(device, saved, MODEL, options)) {
        List<EmbeddingTable> tables = trainer.network().tables().tables();
        // State of FTRL for the linear weight, and of Adagrad for the four of the vector.
        assertThat(tables.stream().map(table -> table.config().stateFloats()))
            .containsExactly(2, 2 + 4, 2);
        assertThat(tables.stream().map(table -> table.config().storage()))
            .containsExactly(DType.F32, DType.BF16, DType.F32);
        assertThat(tables.get(1).config().l2()).isEqualTo(0.01f);
        try (Predictor predictor = Predictor.open(saved)) {
          expected = predictor.score(ROWS);
        }
        assertThat(trainer.evaluate(Readers.inMemory(ROWS)).auc()).isGreaterThan(0.55);
      }
      assertThat(expected).doesNotContain(Float.NaN).hasSize(ROWS.size());
    }
  }

  @Test
  void aResumedRunHasTheSameOptionsForEachTable() {
    try (Device device = Device.cpu(1, 1L << 27)) {
      Path saved = saved(device, options(t -> t.own("ad", OWN)));
      for (OwnOptions other : List.of(OWN.l2(0.02f), OWN.initial(InitialWeights.ZEROS))) {
        TrainOptions changed = options(t -> t.own("ad", other));
        assertThatThrownBy(() -> Trainer.resume(device, saved, MODEL, changed))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("resume: got tables");
      }
    }
  }

  @Test
  void aRunMayBeginWithTheWeightsOfOneWithOtherOptions() {
    try (Device device = Device.cpu(1, 1L << 27)) {
      Checkpoint saved = Checkpoint.open(saved(device, options(t -> t.own("ad", OWN))));
      TrainOptions plain = options(t -> t);
      try (Trainer trainer = Trainer.warmStart(device, saved, saved.encoder(), MODEL, plain)) {
        assertThat(trainer.fresh()).isEmpty();
        assertThat(trainer.network().tables().tables().get(1).size()).isEqualTo(30);
      }
      assertThatThrownBy(
              () -> Trainer.warmStartWithState(device, saved, saved.encoder(), MODEL, plain))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("begin: got the optimizer of table ad none, expected {");
      TrainOptions stored = options(t -> t.own("ad", OWN.storage(DType.F16)));
      assertThatThrownBy(
              () -> Trainer.warmStartWithState(device, saved, saved.encoder(), MODEL, stored))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("begin: got the storage of table ad F16, expected BF16");
      TrainOptions faster = options(t -> t.own("ad", OWN.optimizer(Optimizer.adagrad(0.5f))));
      try (Trainer trainer =
          Trainer.warmStartWithState(device, saved, saved.encoder(), MODEL, faster)) {
        assertThat(trainer.step()).isEqualTo(12);
      }
    }
  }

  @Test
  void optionsThatDoNotGoTogetherAreRefused() {
    Optimizer ftrl = new Optimizer.Ftrl(0.1f, 1, 0, 0);
    try (Device device = Device.cpu(1, 1L << 27)) {
      TrainOptions unknown = options(t -> t.own("words", OWN));
      assertThatThrownBy(() -> saved(device, unknown))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got rows of table words, expected names of tables");
      TrainOptions scheduled =
          options(t -> t.own("ad", OwnOptions.NONE.optimizer(ftrl)))
              .schedule(new LearningRate.WarmupDecay(0.1f, 10, 0, 1, 2, 0));
      assertThatThrownBy(() -> saved(device, scheduled))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got FTRL with the learning rate");
      Checkpoint saved = Checkpoint.open(saved(device, options(t -> t)));
      TrainOptions again = options(t -> t.own("ad", OwnOptions.NONE.optimizer(ftrl)));
      assertThatThrownBy(() -> Trainer.warmStart(device, saved, saved.encoder(), MODEL, again))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("warm start: got FTRL");
      TrainOptions walking =
          options(
              t -> t.own("ad", OwnOptions.NONE.optimizer(Optimizer.adam(0.1f))).firstPart(ftrl));
      assertThatThrownBy(() -> saved(device, walking))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got Adam that updates all rows in each step beside another");
    }
  }

  @Test
  void emptyOwnOptionsChangeNothing() {
    TableOptions none = TableOptions.of(Optimizer.sgd(1)).own("ad", OwnOptions.NONE);
    assertThat(none.own()).isEqualTo(Map.of("ad", OwnOptions.NONE));
    assertThat(none.optimizers()).containsExactly(Optimizer.sgd(1));
    assertThat(OwnOptions.NONE.optimizer()).isEqualTo(Optional.empty());
  }
}
