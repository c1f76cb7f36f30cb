package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.checkpoint.DeltaRuns;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.FileTier;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole runs whose tables keep rows in files. */
final class FileTierTrainingTest {
  private static final long MEMORY = 1_000_000;
  private static final Batch TRAIN = rows(1, 6000);
  private static final Batch TEST = rows(2, 500);
  private static final ModelConfig MODEL =
      ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8).withBottom(8).withCrossLayers(2);

  @TempDir Path folder;

  private static Batch rows(long seed, int count) {
    Schema schema =
        new Schema(List.of("click"), List.of(), List.of(Slot.oneHot("user"), Slot.ragged("seen")));
    Batch batch = new Batch(schema, count);
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < count; i++) {
      batch.addId(0, random.nextInt(random.nextBoolean() ? 4000 : 100));
      for (int k = random.nextInt(3); k > 0; k--) {
        batch.addId(1, random.nextLong(-2000, 2000));
      }
      batch.setLabel(0, random.nextInt(2));
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder encoder() {
    return FeatureEncoder.fit(
        Readers.inMemory(TRAIN),
        List.of(),
        List.of(IdEncoding.verbatim(), IdEncoding.verbatim()),
        TextDictionary.none(),
        _ -> {});
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f))
        .batch(64)
        .epochs(2)
        .shuffleRows(1000)
        .reportEvery(1);
  }

  private static Device device(int threads) {
    return Device.cpu(threads, 1L << 27);
  }

  private byte[] trained(TrainOptions options, int threads, String name) throws IOException {
    Path target = folder.resolve(name);
    List<TableStatistics> tables = new ArrayList<>();
    try (Device device = device(threads);
        Trainer trainer = Trainer.create(device, encoder(), MODEL, options)) {
      trainer.fit(
          Readers.inMemory(TRAIN),
          Optional.of(Readers.inMemory(TEST)),
          report -> {
            tables.clear();
            tables.addAll(report.tables());
          });
      trainer.save(target);
    }
    if (options.tier().isPresent()) {
      assertThat(tables).allMatch(table -> table.file().fetched() > 0);
      assertThat(tables.stream().mapToLong(TableStatistics::bytes).sum()).isBetween(1L, MEMORY);
    }
    return PlantedRuns.contents(target);
  }

  @Test
  void weightsAreThoseOfTablesInMemoryOnAnyNumberOfThreads() throws IOException {
    byte[] memory = trained(options(), 1, "memory");
    Path files = Files.createDirectory(folder.resolve("files"));
    for (int threads = 1; threads <= 3; threads++) {
      FileTier tier = FileTier.of(files, MEMORY);
      assertThat(trained(options().tier(tier), threads, "files-" + threads)).isEqualTo(memory);
      assertThat(tier.left()).isEqualTo(MEMORY);
    }
    try (Stream<Path> left = Files.list(files)) {
      assertThat(left).isEmpty();
    }
  }

  @ParameterizedTest(name = "changes {0}")
  @ValueSource(booleans = {true, false})
  void checkpointsAndAStopBetweenChangeNothing(boolean changes) throws IOException {
    byte[] whole = trained(options(), 2, "whole");
    Path run = folder.resolve("run");
    TrainOptions full = options().checkpoints(run, 0);
    TrainOptions options = changes ? full.deltas(DeltaRuns.everySteps(7, 4)) : full;
    try (Device device = device(2);
        Trainer trainer =
            Trainer.create(device, encoder(), MODEL, options.tier(FileTier.of(folder, MEMORY)))) {
      trainer.fit(
          Readers.inMemory(TRAIN),
          Optional.of(Readers.inMemory(TEST)),
          report -> {
            if (report.step() == 110) {
              trainer.requestStop();
            }
          });
    }
    Path end = folder.resolve("end");
    try (Device device = device(2);
        Trainer trainer =
            Trainer.resume(device, run, MODEL, options.tier(FileTier.of(folder, MEMORY)))) {
      assertThat(trainer.step()).isEqualTo(110);
      trainer.fit(Readers.inMemory(TRAIN), Optional.of(Readers.inMemory(TEST)), _ -> {});
      trainer.save(end);
    }
    assertThat(PlantedRuns.contents(end)).isEqualTo(whole);
  }

  @Test
  void tablesThatFindTooLittleMemoryLeaveNothingBehind() {
    FileTier small = FileTier.of(folder, MEMORY / 2);
    try (Device device = device(1)) {
      assertThatThrownBy(() -> Trainer.create(device, encoder(), MODEL, options().tier(small)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("table seen with a file tier: got");
    }
    assertThat(small.left()).isEqualTo(MEMORY / 2);
  }

  @Test
  void aModelThatCannotKeepRowsInFilesIsRefused() {
    TrainOptions mean =
        options().tables(t -> t.unknown(UnknownRow.MEAN)).tier(FileTier.of(folder, MEMORY));
    try (Device device = device(1)) {
      assertThatThrownBy(() -> Trainer.create(device, encoder(), MODEL, mean))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("table user with a file tier");
    }
  }
}
