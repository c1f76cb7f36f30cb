package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.DeltaRuns;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.FileTier;
import dev.tern.embedding.TableShard;
import dev.tern.embedding.TableSnapshot;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.checkpoint.BucketColumns;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.SavedTable;
import dev.tern.internal.checkpoint.TableFile;
import dev.tern.metrics.Metrics;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.predict.ScoreOptions;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Whole runs in which ids without a row share buckets. */
final class BucketTrainingTest {
  private static final Batch ROWS = PlantedRuns.planted(1, 1500);
  private static final Batch OTHERS = DeltaRuns.manyIds(9, 100);
  private static final int BUCKETS = 6;
  private static final ModelConfig MODEL =
      ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 16, 8)
          .withDropout(0.1f)
          .withBottom(8)
          .withCrossLayers(2);

  @TempDir Path folder;

  private static final RowPolicy COUNTED =
      RowPolicy.ALL.withAdmission(new Admission.ByCount(40, 100));

  static List<TrainOptions> runs() {
    RowPolicy recent =
        COUNTED.withMaxRows(7, WhenFull.UNKNOWN).withRoomMadeBy(new Eviction.LeastRecent(), 7);
    RowPolicy full = RowPolicy.ALL.withMaxRows(5, WhenFull.UNKNOWN);
    return List.of(
        options(COUNTED),
        options(recent).tables(t -> t.storage(DType.BF16)),
        options(full).tableOptimizer(Optimizer.adam(0.01f)).tables(t -> t.storage(DType.F16)),
        options(full.withAdmission(new Admission.ByProbability(0.4)))
            .tableOptimizer(Optimizer.rowWiseAdagrad(0.05f)));
  }

  private static TrainOptions options(RowPolicy policy) {
    return TrainOptions.of(Optimizer.adam(0.01f))
        .batch(32)
        .epochs(2)
        .shuffleRows(1000)
        .tables(t -> t.unknown(new UnknownRow.Hashed(BUCKETS)).rows(policy))
        .reportEvery(1);
  }

  private Path trained(TrainOptions options, int threads) {
    Path target = folder.resolve("threads-" + threads);
    try (Device device = Device.cpu(threads, 1L << 27);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, options)) {
      trainer.fit(Readers.inMemory(ROWS));
      trainer.save(target);
    }
    return target;
  }

  @ParameterizedTest
  @MethodSource("runs")
  void weightsDependNeitherOnThreadsNorOnAStopBetween(TrainOptions options) throws IOException {
    byte[] whole = PlantedRuns.contents(trained(options, 1));
    assertThat(PlantedRuns.contents(trained(options, 2))).isEqualTo(whole);
    assertThat(PlantedRuns.contents(trained(options, 3))).isEqualTo(whole);
    Path run = folder.resolve("run");
    TrainOptions saved = options.checkpoints(run, 0).deltas(DeltaRuns.everySteps(7, 100));
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, saved)) {
      trainer.fit(
          Readers.inMemory(ROWS),
          Optional.empty(),
          progress -> {
            if (progress.step() == 40) {
              trainer.requestStop();
            }
          });
    }
    Checkpoint.openLatest(run).reshard(folder.resolve("four"), 4);
    for (Path from : List.of(run, folder.resolve("four"))) {
      Path resumed = folder.resolve("resumed");
      try (Device device = Device.cpu(1, 1L << 27);
          Trainer trainer = Trainer.resume(device, from, MODEL, options)) {
        trainer.fit(Readers.inMemory(ROWS));
        trainer.save(resumed);
      }
      assertThat(PlantedRuns.contents(resumed)).isEqualTo(whole);
    }
  }

  /** Weights and state of a table's buckets in the file of a full checkpoint. */
  private static List<String> buckets(Path file) {
    List<String> rows = new ArrayList<>();
    try (SavedTable table = SavedTable.open(List.of(file), RowShape.of(file))) {
      RowShape shape = table.shape();
      BucketColumns columns = table.bucketRows();
      try (var block =
          new dev.tern.embedding.config.RowBlock(
              shape.storage(),
              shape.width(),
              shape.state(),
              0,
              java.lang.foreign.Arena.ofConfined())) {
        while (columns.next(block)) {
          byte[] weights = block.weights().toArray(ValueLayout.JAVA_BYTE);
          int bytes = weights.length / block.count();
          for (int i = 0; i < block.count(); i++) {
            rows.add(HexFormat.of().formatHex(weights, i * bytes, (i + 1) * bytes));
          }
        }
      }
    }
    return rows;
  }

  private static Path file(Path checkpoint, int table) {
    return checkpoint.resolve("tables/" + table + ".safetensors");
  }

  @Test
  void aCheckpointHoldsWhatBucketsLearnedAndRestoresItIntoEveryShard() {
    Path checkpoint = trained(options(COUNTED), 1);
    Path four = folder.resolve("four");
    Checkpoint.open(checkpoint).reshard(four, 4);
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer fresh =
            Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, options(COUNTED))) {
      fresh.save(folder.resolve("fresh"));
      for (int t = 0; t < 3; t++) {
        List<String> learned = buckets(file(checkpoint, t));
        List<String> first = buckets(file(folder.resolve("fresh"), t));
        assertThat(learned).hasSize(BUCKETS).isNotEqualTo(first);
        // No site has the hash of one of the buckets.
        List<String> stayed = learned.stream().filter(first::contains).toList();
        assertThat(stayed).hasSizeLessThanOrEqualTo(1);
        EmbeddingTable like = fresh.network().tables().tables().get(t);
        for (TableShard shard : TableShard.allOf(2)) {
          try (EmbeddingTable table = EmbeddingTable.create(like.config(), device)) {
            Checkpoint.open(four).restore(t, shard, table);
            Path again = folder.resolve("again");
            try (TableSnapshot snapshot = table.snapshot()) {
              TableFile.write(again, snapshot);
            }
            assertThat(buckets(again)).isEqualTo(learned);
            Files.delete(again);
          } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
          }
        }
      }
    }
  }

  /** Ids never met differ by nothing but their buckets. */
  @ParameterizedTest
  @EnumSource(RowFormat.class)
  void anIdNeverMetScoresAsItsBucketDoes(RowFormat format) {
    Path checkpoint = trained(options(COUNTED), 1);
    try (Predictor predictor =
        Predictor.open(checkpoint, ScoreOptions.DEFAULT.withTables(format))) {
      float[] scores = new float[200];
      Batch rows = new Batch(ROWS.schema(), 200);
      for (int i = 0; i < 200; i++) {
        rows.setDense(0, 0.5f);
        rows.setDense(1, 0.5f);
        rows.addId(0, Long.MAX_VALUE - i);
        rows.addId(1, 3);
        rows.endRow();
      }
      predictor.logits(rows, scores);
      assertThat(distinct(scores)).isEqualTo(BUCKETS);
      float[] exact = new float[200];
      try (Predictor stored = Predictor.open(checkpoint)) {
        stored.logits(rows, exact);
      }
      for (int i = 0; i < 200; i++) {
        assertThat(scores[i]).isBetween(exact[i] - 0.02f, exact[i] + 0.02f);
      }
    }
  }

  private static long distinct(float[] values) {
    List<Float> all = new ArrayList<>();
    for (float value : values) {
      all.add(value);
    }
    return all.stream().distinct().count();
  }

  @Test
  void aTrainedNetworkScoresAsThatOfItsCheckpoint() {
    Path checkpoint = folder.resolve("saved");
    float[] scores = new float[OTHERS.size()];
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, options(COUNTED))) {
      trainer.fit(Readers.inMemory(ROWS));
      trainer.save(checkpoint);
      Metrics.Result before = trainer.evaluate(Readers.inMemory(OTHERS));
      try (Trainer resumed = Trainer.resume(device, checkpoint, MODEL, options(COUNTED))) {
        assertThat(resumed.evaluate(Readers.inMemory(OTHERS))).isEqualTo(before);
      }
    }
    try (Predictor predictor = Predictor.open(checkpoint)) {
      predictor.score(OTHERS, scores);
    }
    assertThat(scores).doesNotContain(Float.NaN);
  }

  @Test
  void aCheckpointIsResumedOnlyWithItsBuckets() {
    Path hashed = trained(options(COUNTED), 1);
    Path zeros = trained(options(COUNTED).tables(t -> t.unknown(UnknownRow.ZEROS)), 2);
    try (Device device = Device.cpu(1, 1L << 27)) {
      TrainOptions more =
          options(COUNTED).tables(t -> t.unknown(new UnknownRow.Hashed(BUCKETS + 1)));
      assertThatThrownBy(() -> Trainer.resume(device, hashed, MODEL, more))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("0.safetensors: got 6 buckets for ids without a row, expected 7");
      TrainOptions none = options(COUNTED).tables(t -> t.unknown(UnknownRow.ZEROS));
      assertThatThrownBy(() -> Trainer.resume(device, hashed, MODEL, none))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("resume: got tables")
          .hasMessageContaining("\"buckets\":6");
      assertThatThrownBy(() -> Trainer.resume(device, zeros, MODEL, options(COUNTED)))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("got 0 buckets for ids without a row, expected 6");
      assertThat(device.memoryInUse()).isZero();
    }
  }

  @Test
  void bucketsThatNothingWouldTrainAreRefused() {
    RowPolicy full = RowPolicy.ALL.withMaxRows(5, WhenFull.ERROR);
    RowPolicy unseen = RowPolicy.ALL.withEviction(new Eviction.Unseen(3));
    try (Device device = Device.cpu(1, 1L << 27)) {
      for (RowPolicy policy : List.of(RowPolicy.ALL, full, unseen)) {
        assertThatThrownBy(
                () -> Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, options(policy)))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("train options: got Hashed[buckets=6] where training gives each");
      }
      TrainOptions tiered =
          options(COUNTED)
              .tableOptimizer(Optimizer.adagrad(0.1f))
              .tier(FileTier.of(folder, 1 << 24));
      assertThatThrownBy(() -> Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, tiered))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("with a file tier: got Hashed[buckets=6]");
    }
  }

  /** Names and sizes in the header of a table's file are replaced by others of as many bytes. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"buckets\":{\"dtype\":\"F32\",\"shape\":[6,5] |"
            + " \"buckets\":{\"dtype\":\"F32\",\"shape\":[5,6] | got buckets of shape [5, 6],"
            + " expected [5, 5]",
        "\"buckets\":{\"dtype\":\"F32\" | \"buckets\":{\"dtype\":\"I32\" | got buckets stored as"
            + " I32",
        "\"bucket_state\":{\"dtype\":\"F32\" | \"bucket_state\":{\"dtype\":\"I32\""
            + " | got bucket_state stored as I32",
        "\"bucket_state\" | \"bucket_stale\" | no array bucket_state",
        "\"buckets\":{ | \"bucketz\":{ | no array buckets",
        "\"buckets\":{\"dtype\":\"F32\",\"shape\":[6,5] |"
            + " \"buckets\":{\"dtype\":\"F32\",\"shape\":[30 ] | got buckets of shape [30]"
      })
  void damagedBucketsAreRefusedBeforeATableChanges(String from, String to, String message)
      throws IOException {
    Path file = file(trained(options(COUNTED), 1), 1);
    String bytes = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    assertThat(bytes).contains(from);
    assertThat(to).hasSameSizeAs(from);
    Files.write(file, bytes.replace(from, to).getBytes(StandardCharsets.ISO_8859_1));
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, options(COUNTED))) {
      Path before = folder.resolve("before");
      Path after = folder.resolve("after");
      trainer.save(before);
      EmbeddingTable table = trainer.network().tables().tables().get(1);
      assertThatThrownBy(() -> TableFile.read(List.of(file), table, TableShard.WHOLE))
          .isInstanceOf(DataException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining(message)
          .hasMessageContaining("; ");
      trainer.save(after);
      assertThat(PlantedRuns.contents(after)).isEqualTo(PlantedRuns.contents(before));
    }
  }
}
