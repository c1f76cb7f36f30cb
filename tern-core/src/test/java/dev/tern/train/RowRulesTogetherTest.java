package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.DType;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.DeltaSchedule;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whole runs in which all of it comes together: slots that share a table, clicks that weigh more,
 * rows that go, buckets for ids without one, checkpoints of changes and in shards.
 */
final class RowRulesTogetherTest {
  private static final Batch TRAIN = rows(1, 2000);
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
  private static final IdEncoding IDS = new IdEncoding.Vocabulary(false, 1, 1 << 20);

  @TempDir private Path folder;

  /** Step {@code s} of a run takes second {@code s}. */
  private final StepClock clock = new StepClock();

  private static final class StepClock implements InstantSource {
    private volatile long seconds = 1_000_000;

    @Override
    public Instant instant() {
      return Instant.ofEpochSecond(seconds);
    }

    void end(long step) {
      seconds = 1_000_000 + step;
    }
  }

  /** The last items stand before the item. */
  private static Batch rows(long seed, int count) {
    Schema schema =
        new Schema(
            List.of("click"),
            List.of(),
            List.of(Slot.ragged("last"), Slot.oneHot("user"), Slot.oneHot("item")));
    Batch batch = new Batch(schema, count);
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < count; i++) {
      for (int k = random.nextInt(4); k > 0; k--) {
        batch.addId(0, i / 100 * 5 + random.nextInt(1 + random.nextInt(300)));
      }
      batch.addId(1, random.nextInt(50));
      batch.addId(2, i / 100 * 5 + random.nextInt(200));
      batch.setLabel(0, random.nextInt(2));
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder encoder() {
    return FeatureEncoder.fit(
        Readers.inMemory(TRAIN),
        List.of(),
        List.of(IDS, IDS, IDS),
        Map.of("last", "item"),
        TextDictionary.none(),
        _ -> {});
  }

  private TrainOptions options(int kind) {
    RowPolicy clicks = RowPolicy.ALL.withAdmission(new Admission.ByCount(6, 300, 3));
    TrainOptions plain =
        TrainOptions.of(Optimizer.adam(0.01f))
            .batch(20)
            .epochs(1)
            .shuffleRows(0)
            .tables(t -> t.unknown(new UnknownRow.Hashed(5)))
            .reportEvery(1);
    return switch (kind) {
      case 0 ->
          plain.tables(t ->
              t.rows(clicks.withEviction(new Eviction.UnseenFor(Duration.ofSeconds(9), clock))));
      case 1 ->
          plain
              .tables(t -> t.rows(clicks.withEviction(new Eviction.LowScore(0.7, 0.9f, 0.2f, 2))))
              .tableOptimizer(Optimizer.adam(0.01f))
              .tables(t -> t.storage(DType.BF16));
      case 2 ->
          plain
              .tables(t ->
                  t.rows(
                      clicks
                          .withMaxRows(30, WhenFull.UNKNOWN)
                          .withRoomMadeBy(new Eviction.LeastFrequent(), 30)))
              .tableOptimizer(Optimizer.lazyAdam(0.01f));
      default ->
          plain
              .tables(t ->
                  t.rows(
                      clicks
                          .withMaxRows(40, WhenFull.UNKNOWN)
                          .withEviction(new Eviction.UnseenFor(Duration.ofSeconds(5), clock))))
              .tableOptimizer(Optimizer.adam(0.01f));
    };
  }

  private List<TableStatistics> run(Trainer trainer, long stop) {
    List<TableStatistics> tables = new ArrayList<>();
    trainer.fit(
        Readers.inMemory(TRAIN),
        Optional.empty(),
        progress -> {
          clock.end(progress.step());
          tables.clear();
          tables.addAll(progress.tables());
          if (progress.step() == stop) {
            trainer.requestStop();
          }
        });
    return tables;
  }

  private byte[] whole(TrainOptions options, int threads) throws IOException {
    clock.end(0);
    Path target = folder.resolve("whole-" + threads);
    try (Device device = Device.cpu(threads, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(), MODEL, options)) {
      List<TableStatistics> tables = run(trainer, -1);
      assertThat(tables).hasSize(2);
      assertThat(tables).anyMatch(t -> t.evicted() > 10 && t.rejected() > 10);
      trainer.save(target);
    }
    return PlantedRuns.contents(target);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void aRunThatGoesOnFromChangesOrShardsEndsWithTheSameBits(int kind) throws IOException {
    TrainOptions options = options(kind);
    byte[] whole = whole(options, 1);
    assertThat(whole(options, 3)).isEqualTo(whole);
    clock.end(0);
    Path run = folder.resolve("run");
    TrainOptions often =
        options.checkpoints(run, 0).deltas(new DeltaSchedule(1, Duration.ZERO, 100));
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(), MODEL, often)) {
      run(trainer, 55);
    }
    Checkpoint.openLatest(run).reshard(folder.resolve("four"), 4);
    for (Path from : List.of(run, folder.resolve("four"))) {
      clock.end(55);
      Path resumed = folder.resolve("resumed");
      try (Device device = Device.cpu(2, 1L << 27);
          Trainer trainer = Trainer.resume(device, from, MODEL, options)) {
        run(trainer, -1);
        trainer.save(resumed);
      }
      assertThat(PlantedRuns.contents(resumed)).isEqualTo(whole);
    }
  }
}
