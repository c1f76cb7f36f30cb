package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.model.ModelConfig;
import dev.tern.nn.Activation;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs that begin with the weights and the optimizers' state of an earlier one. */
final class StateWarmStartTest {
  private static final Batch ROWS = PlantedRuns.planted(1, 700);
  private static final FeatureEncoder ENCODER = PlantedRuns.encoder(ROWS);
  private static final ModelConfig MODEL =
      ModelConfig.of(ModelConfig.Type.WDL, 4, 16)
          .withDropout(0.1f)
          .withActivation(Activation.DICE, true);

  @TempDir Path folder;

  /** Unshuffled: the order of rows depends on the epoch, which begins anew. */
  private static TrainOptions options(Optimizer optimizer) {
    return TrainOptions.of(optimizer).batch(100).shuffleRows(0).tableOptimizer(optimizer);
  }

  static List<TrainOptions> runs() {
    List<TrainOptions> runs = new ArrayList<>();
    for (Optimizer optimizer : TrainerTest.optimizers()) {
      runs.add(options(optimizer));
    }
    RowPolicy policy =
        new RowPolicy(
            new Admission.ByCount(2, 1000),
            new Eviction.Unseen(9),
            Long.MAX_VALUE,
            RowPolicy.ALL.whenFull());
    runs.add(options(Optimizer.lazyAdam(0.01f)).tables(t -> t.rows(policy)));
    runs.add(
        options(Optimizer.lazyAdam(0.01f))
            .tables(t -> t.rows(policy).unknown(new UnknownRow.Hashed(7)).storage(DType.BF16)));
    runs.add(
        options(Optimizer.adagrad(0.1f))
            .schedule(LearningRate.warmup(0.1f, 10))
            .tables(t -> t.firstPart(Optimizer.sgd(0.1f))));
    runs.add(
        options(new Optimizer.Adam(0.01f, 0.9f, 0.99f, 1e-8f, Optimizer.Adam.Untouched.DECAYED))
            .tables(t -> t.firstPart(new Optimizer.Ftrl(0.1f, 0, 0, 0))));
    return runs;
  }

  private Path saved(Device device, TrainOptions options) {
    Path saved = folder.resolve("saved");
    try (Trainer trainer = Trainer.create(device, ENCODER, MODEL, options.epochs(1))) {
      trainer.fit(Readers.inMemory(ROWS));
      trainer.save(saved);
    }
    return saved;
  }

  /** The bytes of weights and state in a checkpoint. */
  private static List<byte[]> arrays(Path checkpoint) throws IOException {
    List<byte[]> arrays = new ArrayList<>();
    try (Stream<Path> files = Files.walk(checkpoint)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".safetensors")).sorted().toList()) {
        arrays.add(Files.readAllBytes(file));
      }
    }
    return arrays;
  }

  @ParameterizedTest
  @MethodSource("runs")
  void itGoesOnAsTheResumedRunDoes(TrainOptions options) throws IOException {
    try (Device device = Device.cpu(2, 1L << 28)) {
      Path saved = saved(device, options);
      Path resumed = folder.resolve("resumed");
      Path warm = folder.resolve("warm");
      try (Trainer trainer = Trainer.resume(device, saved, MODEL, options.epochs(2))) {
        trainer.fit(Readers.inMemory(ROWS));
        trainer.save(resumed);
        assertThat(trainer.step()).isEqualTo(14);
      }
      Checkpoint from = Checkpoint.open(saved);
      try (Trainer trainer =
          Trainer.warmStartWithState(device, from, from.encoder(), MODEL, options.epochs(1))) {
        assertThat(trainer.fresh()).isEmpty();
        assertThat(trainer.epoch()).isZero();
        trainer.fit(Readers.inMemory(ROWS));
        trainer.save(warm);
        assertThat(trainer.step()).isEqualTo(14);
        assertThat(trainer.epoch()).isEqualTo(1);
      }
      assertThat(arrays(warm)).hasSizeGreaterThan(4).containsExactlyElementsOf(arrays(resumed));
    }
  }

  @Test
  void weightsAloneDoNotGoOnSo() throws IOException {
    TrainOptions options = options(Optimizer.adam(0.01f));
    try (Device device = Device.cpu(1, 1L << 28)) {
      Checkpoint from = Checkpoint.open(saved(device, options));
      List<List<byte[]>> ends = new ArrayList<>();
      for (boolean state : new boolean[] {true, false}) {
        Path end = folder.resolve("end-" + state);
        try (Trainer trainer =
            state
                ? Trainer.warmStartWithState(device, from, ENCODER, MODEL, options)
                : Trainer.warmStart(device, from, ENCODER, MODEL, options)) {
          trainer.fit(Readers.inMemory(ROWS));
          trainer.save(end);
        }
        ends.add(arrays(end));
      }
      assertThat(ends.get(0).getFirst()).isNotEqualTo(ends.get(1).getFirst());
    }
  }

  @Test
  void ratesAndFrozenTablesMayBeOthersAndOtherStateMayNot() {
    TrainOptions adam = options(Optimizer.lazyAdam(0.01f));
    try (Device device = Device.cpu(1, 1L << 28)) {
      Checkpoint from = Checkpoint.open(saved(device, adam));
      RowPolicy policy = RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), 1000);
      List<UnaryOperator<TrainOptions>> allowed =
          List.of(
              o -> options(Optimizer.lazyAdam(0.001f)).batch(50).weightDecay(0.1f),
              o -> o.tables(t -> t.frozen(Set.of("ad")).rows("ad", RowPolicy.ALL).l2(0.1f)));
      for (UnaryOperator<TrainOptions> change : allowed) {
        Trainer.warmStartWithState(device, from, ENCODER, MODEL, change.apply(adam)).close();
      }
      List<UnaryOperator<TrainOptions>> refused =
          List.of(
              o -> options(Optimizer.adam(0.01f)),
              o -> options(Optimizer.adagrad(0.01f)),
              o -> o.tableOptimizer(Optimizer.sgd(0.1f)),
              o ->
                  options(
                      new Optimizer.Adam(
                          0.01f, 0.8f, 0.999f, 1e-8f, Optimizer.Adam.Untouched.KEPT)),
              o -> o.tables(t -> t.firstPart(Optimizer.lazyAdam(0.01f))),
              o -> o.tables(t -> t.storage(DType.F16)),
              o -> o.tables(t -> t.rows(policy)),
              o -> o.tables(t -> t.rows("ad", policy)));
      for (UnaryOperator<TrainOptions> change : refused) {
        assertThatThrownBy(() ->
                Trainer.warmStartWithState(device, from, ENCODER, MODEL, change.apply(adam))
                    .close())
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("whose state it goes on with");
      }
    }
  }

  @Test
  void everyParameterAndTableMustBeThere() {
    TrainOptions adam = options(Optimizer.lazyAdam(0.01f));
    try (Device device = Device.cpu(1, 1L << 28)) {
      Checkpoint from = Checkpoint.open(saved(device, adam));
      ModelConfig wider = ModelConfig.of(ModelConfig.Type.WDL, 4, 17);
      assertThatThrownBy(
              () -> Trainer.warmStartWithState(device, from, ENCODER, wider, adam).close())
          .isInstanceOf(DataException.class)
          .hasMessageContaining("another model");
      Schema all = ROWS.schema();
      Schema fewer = new Schema(all.labels(), all.dense(), all.slots().subList(0, 2));
      Batch rows = new Batch(fewer, 1);
      rows.setLabel(0, 1);
      rows.setDense(0, 1);
      rows.setDense(1, 1);
      rows.endRow();
      FeatureEncoder other =
          ENCODER.grown(
              Readers.inMemory(rows),
              ENCODER.dense(),
              ENCODER.slots().subList(0, 2),
              Map.of(),
              TextDictionary.none(),
              read -> {});
      assertThatThrownBy(() -> Trainer.warmStartWithState(device, from, other, MODEL, adam).close())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the tables [site, ad], expected [site, ad, tags]");
    }
  }
}
