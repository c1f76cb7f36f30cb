package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.DeltaSchedule;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.TableShard;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.internal.checkpoint.TableFile;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whole runs in which not every id has a row for good. */
final class RowPolicyTrainingTest {
  private static final Batch TRAIN = PlantedRuns.planted(1, 3000);
  private static final Batch TEST = PlantedRuns.planted(2, 1000);
  private static final ModelConfig MODEL =
      ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 16, 8)
          .withDropout(0.1f)
          .withBottom(8)
          .withCrossLayers(2);

  @TempDir Path folder;

  static List<RowPolicy> policies() {
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(5, 10));
    return List.of(
        counted,
        RowPolicy.ALL.withAdmission(new Admission.ByProbability(0.5)),
        RowPolicy.ALL.withEviction(new Eviction.Unseen(2)),
        counted.withEviction(new Eviction.SmallNorm(0.05f, 1)),
        counted.withMaxRows(7, WhenFull.UNKNOWN).withRoomMadeBy(new Eviction.LeastRecent(), 7),
        RowPolicy.ALL
            .withMaxRows(5, WhenFull.UNKNOWN)
            .withRoomMadeBy(new Eviction.LeastFrequent(), 5),
        RowPolicy.ALL.withEviction(new Eviction.LowScore(0.5, 0.9f)),
        RowPolicy.ALL
            .withAdmission(new Admission.ByCount(20, 10, 3))
            .withEviction(new Eviction.LowScore(0.5, 0.9f, 0.1f, 2)));
  }

  private static TrainOptions options(RowPolicy policy) {
    return TrainOptions.of(Optimizer.adam(0.01f))
        .batch(32)
        .epochs(2)
        .shuffleRows(1000)
        .tables(t -> t.unknown(UnknownRow.INITIAL).rows(policy))
        .reportEvery(1);
  }

  private Path trained(RowPolicy policy, int threads) {
    Path target = folder.resolve("threads-" + threads);
    try (Device device = Device.cpu(threads, 1L << 27);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, options(policy))) {
      trainer.fit(Readers.inMemory(TRAIN));
      trainer.save(target);
    }
    return target;
  }

  @ParameterizedTest
  @MethodSource("policies")
  void weightsDependNeitherOnThreadsNorOnAStopBetween(RowPolicy policy) throws IOException {
    Path checkpoint = trained(policy, 1);
    byte[] whole = PlantedRuns.contents(checkpoint);
    assertThat(PlantedRuns.contents(trained(policy, 2))).isEqualTo(whole);
    assertThat(PlantedRuns.contents(trained(policy, 3))).isEqualTo(whole);
    Path run = folder.resolve("run");
    TrainOptions options = options(policy).checkpoints(run, 0);
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, options)) {
      trainer.fit(
          Readers.inMemory(TRAIN),
          Optional.empty(),
          progress -> {
            if (progress.step() == 50) {
              trainer.requestStop();
            }
          });
    }
    List<TableStatistics> statistics = new ArrayList<>();
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.resume(device, run, MODEL, options)) {
      trainer.fit(
          Readers.inMemory(TRAIN),
          Optional.empty(),
          progress -> {
            statistics.clear();
            statistics.addAll(progress.tables());
          });
      trainer.save(folder.resolve("resumed"));
    }
    assertThat(PlantedRuns.contents(folder.resolve("resumed"))).isEqualTo(whole);
    assertThat(statistics).hasSize(3);
    assertThat(statistics.stream().mapToLong(s -> s.rejected() + s.evicted()).sum()).isPositive();
    for (TableStatistics table : statistics) {
      assertThat(table.misses()).isEqualTo(table.admitted() + table.rejected());
      assertThat(table.rows()).isEqualTo(table.admitted() - table.evicted());
    }
    assertThat(scores(checkpoint)).doesNotContain(Float.NaN);
  }

  /** A clock of which step {@code s} of a run takes second {@code s}. */
  private static final class StepClock implements InstantSource, Progress.Listener {
    private volatile long seconds = 1_000_000;

    @Override
    public Instant instant() {
      return Instant.ofEpochSecond(seconds);
    }

    @Override
    public void report(Progress progress) {
      seconds = 1_000_000 + progress.step();
    }
  }

  @Test
  void rowsGoByTheClockAlsoWhereARunGoesOnFromChanges() throws IOException {
    StepClock clock = new StepClock();
    Eviction rule = new Eviction.UnseenFor(Duration.ofSeconds(70), clock);
    RowPolicy policy = RowPolicy.ALL.withEviction(rule);
    TrainOptions options = options(policy).batch(1).epochs(1);
    List<byte[]> ends = new ArrayList<>();
    for (int threads = 1; threads <= 2; threads++) {
      try (Device device = Device.cpu(threads, 1L << 27);
          Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, options)) {
        trainer.fit(Readers.inMemory(TRAIN), Optional.empty(), clock);
        trainer.save(folder.resolve("whole-" + threads));
        assertThat(trainer.network().tables().statistics().stream())
            .anyMatch(table -> table.evicted() > 10);
      }
      ends.add(PlantedRuns.contents(folder.resolve("whole-" + threads)));
      clock.seconds = 1_000_000;
    }
    Path run = folder.resolve("run");
    TrainOptions kept =
        options.checkpoints(run, 0).deltas(new DeltaSchedule(500, Duration.ZERO, 100));
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, kept)) {
      trainer.fit(
          Readers.inMemory(TRAIN),
          Optional.empty(),
          progress -> {
            clock.report(progress);
            if (progress.step() == 1270) {
              trainer.requestStop();
            }
          });
    }
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.resume(device, run, MODEL, kept)) {
      trainer.fit(Readers.inMemory(TRAIN), Optional.empty(), clock);
      trainer.save(folder.resolve("resumed"));
    }
    ends.add(PlantedRuns.contents(folder.resolve("resumed")));
    assertThat(ends).allMatch(end -> Arrays.equals(end, ends.getFirst()));
  }

  @Test
  void aTableMayHaveARuleOfItsOwnWhichOthersDoNotFeel() throws IOException {
    RowPolicy few = RowPolicy.ALL.withMaxRows(5, WhenFull.UNKNOWN);
    TrainOptions own =
        options(RowPolicy.ALL).tables(t -> t.rows("ad", few).rows("tags", policies().getFirst()));
    List<byte[]> ends = new ArrayList<>();
    for (int threads = 1; threads <= 2; threads++) {
      Path target = folder.resolve("own-" + threads);
      try (Device device = Device.cpu(threads, 1L << 27);
          Trainer trainer = Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, own)) {
        trainer.fit(Readers.inMemory(TRAIN));
        trainer.save(target);
        List<TableStatistics> tables = trainer.network().tables().statistics();
        assertThat(trainer.network().schema().tables()).containsExactly("site", "ad", "tags");
        assertThat(tables.get(0).rejected()).isZero();
        assertThat(tables.get(0).rows()).isEqualTo(20);
        assertThat(tables.get(1).rows()).isEqualTo(5);
        assertThat(tables.get(1).rejected()).isPositive();
        assertThat(tables.get(2).rows()).isEqualTo(10);
        assertThat(tables.get(2).rejected()).isPositive();
      }
      ends.add(PlantedRuns.contents(target));
    }
    assertThat(ends.get(1)).isEqualTo(ends.get(0));
    assertThat(scores(folder.resolve("own-1"))).doesNotContain(Float.NaN);
    try (Device device = Device.cpu(1, 1L << 27)) {
      Trainer.resume(device, folder.resolve("own-1"), MODEL, own).close();
      TrainOptions other = own.tables(t -> t.rows("ad", few.withMaxRows(6, WhenFull.UNKNOWN)));
      assertThatThrownBy(() -> Trainer.resume(device, folder.resolve("own-1"), MODEL, other))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("resume: got tables")
          .hasMessageContaining("\"rowsOf\":{\"ad\"");
      TrainOptions none = own.tables(t -> t.rows("adds", few));
      assertThatThrownBy(() -> Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, none))
          .hasMessage(
              "network: got rows of table adds, expected names of tables, which are site, ad,"
                  + " tags");
    }
  }

  private static float[] scores(Path checkpoint) {
    try (Predictor predictor = Predictor.open(checkpoint)) {
      return predictor.score(TEST);
    }
  }

  @Test
  void aCheckpointIsResumedOnlyByThePolicyThatMadeIt() {
    RowPolicy policy = policies().get(0);
    Path counted = trained(policy, 1);
    Path plain = trained(RowPolicy.ALL, 2);
    try (Device device = Device.cpu(1, 1L << 27)) {
      assertThatThrownBy(() -> Trainer.resume(device, counted, MODEL, options(RowPolicy.ALL)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("resume: got tables");
      assertThatThrownBy(() -> Trainer.resume(device, plain, MODEL, options(policy)))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("got a table without a history");
      RowPolicy other = policy.withAdmission(new Admission.ByCount(6, 10));
      assertThatThrownBy(() -> Trainer.resume(device, counted, MODEL, options(other)))
          .hasMessageContaining("resume: got tables");
    }
  }

  @Test
  void tablesOfEveryIdAreSavedWithoutAHistory() {
    try (SafeTensors file =
        SafeTensors.open(trained(RowPolicy.ALL, 1).resolve("tables/0.safetensors"))) {
      assertThat(file.names()).containsExactly("ids", "weights", "state");
    }
  }

  @Test
  void damagedHistoriesAreRefusedAndNameTheirFile() throws IOException {
    RowPolicy policy = policies().get(4);
    Path file = trained(policy, 1).resolve("tables/1.safetensors");
    for (String name : List.of("history", "metadata", "filter")) {
      long bytes;
      try (SafeTensors arrays = SafeTensors.open(file)) {
        bytes = arrays.entry(name).bytes();
        assertThat(bytes).isPositive();
      }
      byte[] whole = Files.readAllBytes(file);
      overwrite(file, name);
      try (Device device = Device.cpu(1, 1L << 27);
          Trainer trainer =
              Trainer.create(device, PlantedRuns.encoder(TRAIN), MODEL, options(policy))) {
        var table = trainer.network().tables().tables().get(1);
        assertThatThrownBy(() -> TableFile.read(List.of(file), table, TableShard.WHOLE))
            .as(name)
            .isInstanceOf(DataException.class)
            .hasMessageContaining(file.toString())
            .hasMessageContaining("damaged");
      }
      Files.write(file, whole);
    }
  }

  /** Sets the first bytes of an array to ones. */
  private static void overwrite(Path file, String name) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    long header = buffer.getLong(0);
    try (SafeTensors arrays = SafeTensors.open(file)) {
      int at = (int) (8 + header + arrays.entry(name).offset());
      buffer.putInt(at, -1);
      buffer.putInt(at + (name.equals("metadata") ? 0 : 4), -1);
    }
    Files.write(file, bytes);
  }
}
