package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.VectorSource;
import dev.tern.embedding.config.WhenFull;
import dev.tern.exchange.Mesh;
import dev.tern.exchange.MeshException;
import dev.tern.exchange.MeshOptions;
import dev.tern.model.ModelConfig;
import dev.tern.nn.Activation;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One model that several ranks train together. */
final class RanksTest {
  private static final long MEMORY = 1L << 27;
  private static final byte[] SECRET = "a secret of sixteen bytes".getBytes(StandardCharsets.UTF_8);
  private static final Batch ROWS = PlantedRuns.planted(1, 300);
  private static final ModelConfig DEEPFM =
      ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 16, 8).withDropout(0.1f);

  @TempDir Path folder;

  /** What a rank does. */
  private interface Work<T> {
    T run(Mesh mesh) throws Exception;
  }

  /** Runs the work of all ranks side by side; returns what they give, by rank. */
  private static <T> List<T> together(int ranks, Work<T> work) throws Exception {
    List<Mesh> meshes = Mesh.inProcess(MeshOptions.of(0, ranks, SECRET));
    try (ExecutorService threads = Executors.newFixedThreadPool(ranks)) {
      List<Future<T>> running = new ArrayList<>();
      for (Mesh mesh : meshes) {
        running.add(threads.submit(() -> work.run(mesh)));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> each : running) {
        results.add(each.get());
      }
      return results;
    } finally {
      meshes.forEach(Mesh::close);
    }
  }

  private static TrainOptions adam() {
    return TrainOptions.of(Optimizer.lazyAdam(0.01f)).epochs(1).batch(64).lanes(8).shuffleRows(100);
  }

  /** What a training tells of itself: losses, logits, and the figures of an evaluation. */
  private static List<Object> train(Trainer trainer, Batch rows, Batch held) {
    List<Object> seen = new ArrayList<>();
    try (TrainingBatches batches = trainer.batches(Readers.inMemory(rows))) {
      for (Batch batch : batches) {
        StepResult result = trainer.step(batch);
        seen.add(result.loss());
        int logits = batch.size() * trainer.network().tasks().count();
        for (int i = 0; i < logits; i++) {
          seen.add(trainer.logits()[i]);
        }
      }
    }
    seen.add(trainer.evaluate(Readers.inMemory(held)).toString());
    return seen;
  }

  private void requireSame(
      int ranks,
      FeatureEncoder encoder,
      ModelConfig model,
      TrainOptions options,
      Batch rows,
      Batch held)
      throws Exception {
    requireSame(ranks, encoder, model, options, rows, held, _ -> {});
  }

  private void requireSame(
      int ranks,
      FeatureEncoder encoder,
      ModelConfig model,
      TrainOptions options,
      Batch rows,
      Batch held,
      Consumer<Trainer> first)
      throws Exception {
    String what = "%d ranks of %s with %s".formatted(ranks, model, options.tables());
    List<Object> expected;
    Path alone = folder.resolve("alone-" + ranks);
    try (Device device = Device.cpu(1, MEMORY);
        Trainer trainer = Trainer.create(device, encoder, model, options)) {
      first.accept(trainer);
      expected = train(trainer, rows, held);
      trainer.save(alone);
    }
    Path joint = folder.resolve("together-" + ranks);
    List<List<Object>> got =
        together(
            ranks,
            mesh -> {
              try (Device device = Device.cpu(1, MEMORY);
                  Trainer trainer = Trainer.create(device, encoder, model, options, mesh)) {
                first.accept(trainer);
                List<Object> seen = train(trainer, rows, held);
                trainer.save(joint);
                return seen;
              }
            });
    for (List<Object> each : got) {
      assertThat(each).as(what).isEqualTo(expected);
    }
    Checkpoint.open(joint).reshard(folder.resolve("one-" + ranks), 1);
    assertThat(PlantedRuns.contents(folder.resolve("one-" + ranks)))
        .as(what)
        .isEqualTo(PlantedRuns.contents(alone));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 8})
  void anyNumberOfRanksGivesTheBitsOfOne(int ranks) throws Exception {
    // The last batch has 44 rows in 6 lanes: of 8 ranks the last two have none.
    requireSame(ranks, PlantedRuns.encoder(ROWS), DEEPFM, adam(), ROWS, PlantedRuns.planted(2, 70));
  }

  /** A type of each kind; with {@code -Dtest.flags="-Ddrawn.runs=2"} all that lanes go with. */
  private static Stream<ModelConfig.Type> types() {
    return Integer.getInteger("drawn.runs", 1) > 1
        ? Stream.of(ModelConfig.Type.values()).filter(type -> type != ModelConfig.Type.TWOTOWER)
        : Stream.of(
            ModelConfig.Type.FM,
            ModelConfig.Type.WDL,
            ModelConfig.Type.DLRM,
            ModelConfig.Type.ESMM,
            ModelConfig.Type.DIN,
            ModelConfig.Type.GMF);
  }

  @ParameterizedTest
  @MethodSource("types")
  void soItIsWithModelsOfAnyKind(ModelConfig.Type type) throws Exception {
    DrawnRun run = DrawnRun.of(type, 3);
    TrainOptions options = run.options().batch(64).lanes(8);
    TableOptions tables = options.tables().unknown(UnknownRow.ZEROS);
    requireSame(
        2, run.encoder(), run.model(), options.tables(_ -> tables), run.train(), run.train());
  }

  private static Stream<Arguments> kinds() {
    return Stream.of(
        Arguments.of("sgd, clipped", of(Optimizer.sgd(0.1f)).clipNorm(0.05f)),
        Arguments.of("decay of weights", of(Optimizer.adagrad(0.05f)).weightDecay(0.1f)),
        Arguments.of("all rows of Adam", of(Optimizer.adam(0.01f))),
        Arguments.of("ftrl", of(Optimizer.ftrl(0.05f))),
        Arguments.of("linear part", adam().tables(t -> t.firstPart(Optimizer.ftrl(0.05f)))),
        Arguments.of("bf16, mean", tables(t -> t.storage(DType.BF16).combiner(Combiner.MEAN))),
        Arguments.of("f16, l2", tables(t -> t.storage(DType.F16).l2(0.01f).l2OfAllRows(true))),
        Arguments.of("limits", tables(t -> t.limits(RowLimits.NONE.withClipNorm(0.001f)))),
        Arguments.of("initial", tables(t -> t.unknown(UnknownRow.INITIAL))));
  }

  private static TrainOptions of(Optimizer optimizer) {
    return TrainOptions.of(optimizer).epochs(1).batch(64).lanes(8).shuffleRows(100);
  }

  private static TrainOptions tables(UnaryOperator<TableOptions> change) {
    return adam().tables(change);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("kinds")
  void soItIsWithOptimizersAndTablesOfAnyKind(String name, TrainOptions options) throws Exception {
    requireSame(2, PlantedRuns.encoder(ROWS), DEEPFM, options, ROWS, PlantedRuns.planted(2, 70));
  }

  @Test
  void soItIsWithStatisticsOfLayersOnRanksWithoutRows() throws Exception {
    ModelConfig model =
        ModelConfig.of(ModelConfig.Type.DCNV2, 4, 16, 8)
            .withCrossLayers(1)
            .withActivation(Activation.DICE, true);
    Batch rows = PlantedRuns.planted(3, 64 + 8 + 1);
    requireSame(4, PlantedRuns.encoder(rows), model, adam(), rows, rows);
  }

  @Test
  void soItIsWithVectorsThatDoNotLearn() throws Exception {
    String table = PlantedRuns.encoder(ROWS).schema().tables().getFirst();
    requireSame(
        3,
        PlantedRuns.encoder(ROWS),
        DEEPFM,
        tables(t -> t.frozen(Set.of(table))),
        ROWS,
        PlantedRuns.planted(2, 70),
        trainer -> trainer.network().begin(table, 4, vectors(50)));
  }

  /** Vectors of 4 numbers for the ids below {@code count}, a few at a time. */
  private static VectorSource vectors(int count) {
    int[] next = {0};
    return (ids, values) -> {
      int some = Math.min(Math.min(7, ids.length), count - next[0]);
      for (int i = 0; i < some; i++) {
        ids[i] = next[0]++;
        for (int j = 0; j < 4; j++) {
          values[4 * i + j] = 0.01f * ids[i] - 0.1f * j;
        }
      }
      return some;
    };
  }

  @Test
  void aRunGoesOnWithAnotherNumberOfRanks() throws Exception {
    TrainOptions options = adam().epochs(3).shuffleRows(0).evaluateEvery(4);
    FeatureEncoder encoder = PlantedRuns.encoder(ROWS);
    Batch held = PlantedRuns.planted(2, 70);
    try (Device device = Device.cpu(1, MEMORY);
        Trainer trainer = Trainer.create(device, encoder, DEEPFM, options)) {
      trainer.fit(
          Readers.inMemory(ROWS), Optional.of(Readers.inMemory(held)), Progress.Listener.none());
      trainer.save(folder.resolve("alone"));
    }
    TrainOptions kept = options.checkpoints(folder.resolve("run"), 0);
    List<Long> stoppedAt =
        together(
            4,
            mesh -> {
              try (Device device = Device.cpu(1, MEMORY);
                  Trainer trainer = Trainer.create(device, encoder, DEEPFM, kept, mesh)) {
                Progress.Listener stop =
                    progress -> {
                      if (mesh.rank() == 2 && progress.step() >= 6) {
                        trainer.requestStop();
                      }
                    };
                trainer.fit(Readers.inMemory(ROWS), Optional.of(Readers.inMemory(held)), stop);
                return trainer.step();
              }
            });
    assertThat(stoppedAt).containsOnly(stoppedAt.getFirst());
    assertThat(stoppedAt.getFirst()).isLessThan(15);
    together(
        3,
        mesh -> {
          try (Device device = Device.cpu(1, MEMORY);
              Trainer trainer = Trainer.resume(device, folder.resolve("run"), DEEPFM, kept, mesh)) {
            trainer.fit(
                Readers.inMemory(ROWS),
                Optional.of(Readers.inMemory(held)),
                Progress.Listener.none());
            trainer.save(folder.resolve("joint"));
            return 0;
          }
        });
    Checkpoint.open(folder.resolve("joint")).reshard(folder.resolve("one"), 1);
    assertThat(PlantedRuns.contents(folder.resolve("one")))
        .isEqualTo(PlantedRuns.contents(folder.resolve("alone")));
    assertThat(folder.resolve("run")).isDirectoryNotContaining("glob:**.{writing,parts}");
  }

  @Test
  void whereARankFailsAllFailAndSayWhy() {
    FeatureEncoder encoder = PlantedRuns.encoder(ROWS);
    Batch damaged = PlantedRuns.planted(1, 64);
    damaged.labels()[9] = Float.NaN;
    List<String> messages = new ArrayList<>();
    assertThatThrownBy(() ->
            together(
                3,
                mesh -> {
                  try (Device device = Device.cpu(1, MEMORY);
                      Trainer trainer = Trainer.create(device, encoder, DEEPFM, adam(), mesh)) {
                    train(trainer, mesh.rank() == 1 ? damaged : ROWS, ROWS);
                    return 0;
                  } catch (MeshException e) {
                    synchronized (messages) {
                      messages.add(e.getMessage());
                    }
                    throw e;
                  }
                }))
        .isInstanceOf(ExecutionException.class);
    assertThat(messages).hasSize(2);
    assertThat(messages)
        .allMatch(message -> message.contains("rank 1 ended it: train: got no label"));
  }

  @Test
  void ranksThatBeginOtherwiseThanOthersAreRefused() throws Exception {
    FeatureEncoder encoder = PlantedRuns.encoder(ROWS);
    together(
        2,
        mesh -> {
          TrainOptions own = adam().seed(mesh.rank());
          try (Device device = Device.cpu(1, MEMORY)) {
            assertThatThrownBy(() -> Trainer.create(device, encoder, DEEPFM, own, mesh))
                .hasMessageContaining("got another run on one rank than on another");
          }
          return 0;
        });
  }

  @Test
  void whatRanksCannotDoIsRefusedAtOnce() throws Exception {
    FeatureEncoder encoder = PlantedRuns.encoder(ROWS);
    List<TrainOptions> refused =
        List.of(
            adam().lanes(2),
            tables(t -> t.unknown(UnknownRow.MEAN)),
            tables(t -> t.rows(RowPolicy.ALL.withMaxRows(9, WhenFull.UNKNOWN))));
    List<String> expected =
        List.of("got 2 lanes on 3 ranks", "unknown ids that read as MEAN", "on several ranks");
    for (int i = 0; i < refused.size(); i++) {
      TrainOptions options = refused.get(i);
      String text = expected.get(i);
      together(
          3,
          mesh -> {
            try (Device device = Device.cpu(1, MEMORY)) {
              assertThatThrownBy(() -> Trainer.create(device, encoder, DEEPFM, options, mesh))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining(text);
            }
            return 0;
          });
    }
  }
}
