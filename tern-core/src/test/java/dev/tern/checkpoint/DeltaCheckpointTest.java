package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.DType;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import dev.tern.train.TrainerTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checkpoints of what changed, against full ones of the same moment. */
public final class DeltaCheckpointTest {
  public static final Batch ROWS = manyIds(1, 720);
  public static final ModelConfig MODEL =
      ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8)
          .withDropout(0.1f)
          .withBottom(8)
          .withCrossLayers(2);

  @TempDir Path folder;

  /** As {@link TrainerTest#planted}, but of many ids in the first rows, of which few come back. */
  public static Batch manyIds(long seed, int rows) {
    Batch batch = new Batch(TrainerTest.planted(seed, 1).schema(), rows);
    Random random = new Random(seed);
    for (int i = 0; i < rows; i++) {
      batch.setDense(0, random.nextFloat());
      batch.setDense(1, random.nextFloat());
      batch.addId(0, random.nextInt(10));
      batch.addId(1, (long) (1e4 / (1 + random.nextInt(10_000))) + i / 100 * 7L);
      for (int t = i < 30 ? 100 : random.nextInt(4); t > 0; t--) {
        batch.addId(2, random.nextInt(1 + random.nextInt(10_000)));
      }
      batch.setLabel(0, random.nextInt(2));
      batch.endRow();
    }
    return batch;
  }

  public static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f))
        .batch(30)
        .epochs(1)
        .shuffleRows(0)
        .tables(t -> t.unknown(UnknownRow.INITIAL))
        .reportEvery(1);
  }

  public static final RowPolicy COUNTED = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 60));

  public static List<TrainOptions> runs() {
    RowPolicy recent =
        COUNTED.withMaxRows(30, WhenFull.UNKNOWN).withRoomMadeBy(new Eviction.LeastRecent(), 30);
    return List.of(
        options(),
        options().tableOptimizer(Optimizer.adam(0.01f)).tables(t -> t.storage(DType.BF16)),
        options().tableOptimizer(Optimizer.sgd(0.1f)).tables(t -> t.storage(DType.F16)),
        options().tables(t -> t.rows(COUNTED)),
        options().tables(t -> t.rows(COUNTED).unknown(new UnknownRow.Hashed(40))),
        options()
            .tables(t -> t.rows(recent).unknown(new UnknownRow.Hashed(7)))
            .tableOptimizer(Optimizer.adam(0.01f))
            .tables(t -> t.storage(DType.BF16)),
        options().tables(t -> t.rows(RowPolicy.ALL.withEviction(new Eviction.Unseen(2)))),
        options().tables(t -> t.rows(COUNTED.withEviction(new Eviction.SmallNorm(0.05f, 1)))),
        options().tables(t -> t.rows(COUNTED.withEviction(new Eviction.LowScore(0.5, 0.9f)))),
        options()
            .tables(t ->
                t.rows(
                    RowPolicy.ALL
                        .withAdmission(new Admission.ByCount(5, 60, 3))
                        .withEviction(new Eviction.LowScore(0.5, 0.9f, 0.2f, 2)))),
        options().tables(t -> t.rows(recent)),
        options()
            .tables(t ->
                t.rows(
                    RowPolicy.ALL
                        .withMaxRows(12, WhenFull.UNKNOWN)
                        .withRoomMadeBy(new Eviction.LeastFrequent(), 12))));
  }

  public static DeltaSchedule everySteps(long steps, int most) {
    return new DeltaSchedule(steps, Duration.ZERO, most);
  }

  public static List<String> names(Path folder) throws IOException {
    try (Stream<Path> children = Files.list(folder)) {
      return children.map(child -> child.getFileName().toString()).sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("runs")
  void fullAndChangesTogetherAreTheFullCheckpointOfThatMoment(TrainOptions options)
      throws IOException {
    Path run = folder.resolve("run");
    TreeMap<Long, byte[]> full = new TreeMap<>();
    List<Integer> lengths = new ArrayList<>();
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer =
            Trainer.create(
                device,
                TrainerTest.encoder(ROWS),
                MODEL,
                options.checkpoints(run, 0).deltas(everySteps(4, 3)))) {
      trainer.fit(
          Readers.inMemory(ROWS),
          Optional.empty(),
          progress -> {
            try {
              if (progress.step() % 4 == 0) {
                trainer.save(folder.resolve("full"));
                full.put(progress.step(), TrainerTest.contents(folder.resolve("full")));
              }
              if (progress.step() % 4 == 3 && progress.step() > 4) {
                trainer.save(folder.resolve("other")); // waits for what is being written
                Checkpoint latest = Checkpoint.openLatest(run);
                lengths.add(latest.parts().size());
                assertThat(again(latest.folder(), options)).isEqualTo(full.get(latest.step()));
              }
            } catch (IOException e) {
              throw new java.io.UncheckedIOException(e);
            }
          });
    }
    assertThat(lengths).startsWith(1, 2).contains(1, 2).allMatch(length -> length <= 4);
    assertThat(names(run)).containsExactly("step-24");
  }

  /** The files of a checkpoint that was read and written again as a full one. */
  private byte[] again(Path checkpoint, TrainOptions options) throws IOException {
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.resume(device, checkpoint, MODEL, options)) {
      trainer.save(folder.resolve("again"));
    }
    return TrainerTest.contents(folder.resolve("again"));
  }

  /** A run that stops after {@code steps} steps. */
  public static void run(Path run, TrainOptions options, boolean resume, long steps) {
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            resume
                ? Trainer.resume(device, run, MODEL, options)
                : Trainer.create(device, TrainerTest.encoder(ROWS), MODEL, options)) {
      trainer.fit(
          Readers.inMemory(ROWS),
          Optional.empty(),
          progress -> {
            if (progress.step() == steps) {
              trainer.requestStop();
            }
          });
    }
  }

  @ParameterizedTest
  @MethodSource("runs")
  void aResumedRunGoesOnWithTheChainAndEndsWithTheSameBytes(TrainOptions options)
      throws IOException {
    Path run = folder.resolve("run");
    TrainOptions often = options.checkpoints(run, 0).deltas(everySteps(3, 100));
    run(run, often, false, 10);
    List<String> before = names(run);
    run(run, often, true, 11);
    assertThat(names(run)).isIn(List.of("step-11"), appended(before, "step-11.delta"));
    run(run, often, true, Long.MAX_VALUE);
    Path whole = folder.resolve("whole");
    run(whole, options.checkpoints(whole, 0), false, Long.MAX_VALUE);
    assertThat(TrainerTest.contents(run.resolve("step-24")))
        .isEqualTo(TrainerTest.contents(whole.resolve("step-24")));
  }

  private static List<String> appended(List<String> names, String name) {
    return Stream.concat(names.stream(), Stream.of(name)).sorted().toList();
  }

  @Test
  void afterSoManyChangesComesAFullCheckpoint() throws IOException {
    Path run = folder.resolve("run");
    TrainOptions often = options().checkpoints(run, 0).deltas(everySteps(1, 3));
    run(run, often, false, 4);
    assertThat(names(run))
        .containsExactly("step-1", "step-2.delta", "step-3.delta", "step-4.delta");
    run(run, often, true, 5);
    assertThat(names(run)).containsExactly("step-5");
  }

  @Test
  void whatNeitherChangedNorFollowsIsRemovedAndAllThatIsNeededStays() throws IOException {
    Path run = folder.resolve("run");
    TrainOptions often = options().checkpoints(run, 0).deltas(everySteps(1, 100));
    run(run, often, false, 4);
    assertThat(names(run))
        .containsExactly("step-1", "step-2.delta", "step-3.delta", "step-4.delta");
    Files.createDirectories(run.resolve("step-5.delta.writing"));
    Files.createDirectories(run.resolve("step-0"));
    Files.createDirectories(run.resolve("mine"));
    run(run, often, true, 5);
    assertThat(names(run))
        .containsExactly(
            "mine", "step-1", "step-2.delta", "step-3.delta", "step-4.delta", "step-5.delta");
    try (Device device = Device.cpu(1, 1L << 27);
        Network network = Checkpoint.open(run).load(device)) {
      assertThat(network.tables().rows()).isPositive();
    }
  }

  @Test
  void timeAloneMakesCheckpointsOfChangesToo() throws IOException {
    Path run = folder.resolve("run");
    TrainOptions always =
        options().checkpoints(run, 0).deltas(new DeltaSchedule(0, Duration.ofNanos(1), 100));
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, TrainerTest.encoder(ROWS), MODEL, always)) {
      trainer.fit(
          Readers.inMemory(ROWS),
          Optional.empty(),
          progress -> {
            trainer.save(folder.resolve("other")); // waits for what is being written
            if (progress.step() == 3) {
              trainer.requestStop();
            }
          });
    }
    assertThat(names(run)).containsExactly("step-1", "step-2.delta", "step-3.delta");
  }

  @Test
  void changesHoldFewRowsWhereFewChanged() {
    Path run = folder.resolve("run");
    run(run, options().checkpoints(run, 0).deltas(everySteps(10, 100)), false, 21);
    try (SafeTensors full = SafeTensors.open(run.resolve("step-10/tables/2.safetensors"));
        SafeTensors last = SafeTensors.open(run.resolve("step-21.delta/tables/2.safetensors"))) {
      assertThat(last.entry("ids").elements()).isBetween(1L, 90L);
      assertThat(last.entry("gone").elements()).isZero();
      assertThat(full.entry("ids").elements()).isGreaterThan(1000);
    }
  }
}
