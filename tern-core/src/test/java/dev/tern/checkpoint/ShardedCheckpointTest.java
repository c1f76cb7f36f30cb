package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.TableShard;
import dev.tern.embedding.TableSnapshot;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.SavedTable;
import dev.tern.internal.checkpoint.TableFile;
import dev.tern.model.Network;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.PlantedRuns;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checkpoints whose tables lie in several files, written and restored in any number of them. */
final class ShardedCheckpointTest {
  @TempDir Path folder;

  static List<TrainOptions> runs() {
    return DeltaRuns.runs();
  }

  private Path trained(TrainOptions options, long steps) {
    Path run = folder.resolve("run");
    TrainOptions often = options.checkpoints(run, 0).deltas(DeltaRuns.everySteps(3, 100));
    DeltaRuns.run(run, often, false, steps);
    return run;
  }

  private Path resharded(Path from, int shards, String name) {
    Path target = folder.resolve(name);
    Checkpoint.openLatest(from).reshard(target, shards);
    return target;
  }

  @ParameterizedTest
  @MethodSource("runs")
  void fourShardsIntoOneTwoAndEightAreTheBytesOfAnyOtherWay(TrainOptions options)
      throws IOException {
    Path run = trained(options, 8);
    Path one = resharded(run, 1, "one");
    Path four = resharded(run, 4, "four");
    assertThat(Files.exists(four.resolve("tables/0.3.safetensors"))).isTrue();
    for (int shards : new int[] {1, 2, 4, 8}) {
      byte[] expected = PlantedRuns.contents(resharded(one, shards, "direct-" + shards));
      assertThat(PlantedRuns.contents(resharded(four, shards, "again-" + shards)))
          .isEqualTo(expected);
    }
    assertThat(PlantedRuns.contents(folder.resolve("again-1")))
        .isEqualTo(PlantedRuns.contents(one));
  }

  @ParameterizedTest
  @MethodSource("runs")
  void aRunGoesOnFromShardsAsFromOneFile(TrainOptions options) throws IOException {
    Path run = trained(options, 8);
    Path four = resharded(run, 4, "four");
    Path again = folder.resolve("again");
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.resume(device, four, DeltaRuns.MODEL, options)) {
      trainer.save(again);
    }
    assertThat(PlantedRuns.contents(again))
        .isEqualTo(PlantedRuns.contents(resharded(run, 1, "one")));
  }

  @Test
  void aShardExpectsItsShareOfALargerFile() {
    Path file = folder.resolve("table");
    TableConfig config =
        new TableConfig("t", 0, 1, 1, TableOptions.of(Optimizer.sgd(1)).initRange(0));
    try (Device device = Device.cpu(1, 1L << 24)) {
      try (EmbeddingTable table = EmbeddingTable.create(config, device)) {
        table.find(LongStream.range(0, 6400).toArray(), 6400, new Lookup(), true);
        try (TableSnapshot snapshot = table.snapshot()) {
          TableFile.write(file, snapshot);
        }
      }
    }
    for (int shards : new int[] {1, 4, 64}) {
      TableShard last = new TableShard(shards - 1, shards);
      try (SavedTable saved = SavedTable.open(List.of(file), RowShape.of(file), last)) {
        assertThat(saved.expected()).isEqualTo(6400 / shards);
      }
    }
  }

  /** The rows of a table by id, as text. */
  private static Map<Long, String> rows(EmbeddingTable table) {
    Map<Long, String> rows = new TreeMap<>();
    table.exportBlocks(block -> {
      for (int i = 0; i < block.count(); i++) {
        byte[] weights = block.weights().toArray(ValueLayout.JAVA_BYTE);
        int bytes = weights.length / block.count();
        rows.put(block.ids()[i], HexFormat.of().formatHex(weights, i * bytes, (i + 1) * bytes));
      }
    });
    return rows;
  }

  @Test
  void tablesTakeTheirShardOfFilesInMoreShardsInFewerAndWithChanges() {
    Path run = trained(DeltaRuns.options(), 8);
    try (Device device = Device.cpu(1, 1L << 27);
        Network network = Checkpoint.openLatest(run).load(device)) {
      EmbeddingTable whole = network.tables().tables().get(2);
      List<Path> sources = List.of(run, resharded(run, 4, "four"), resharded(run, 1, "one"));
      for (Path source : sources) {
        for (int shards : new int[] {1, 2, 8}) {
          Map<Long, String> all = new TreeMap<>();
          for (TableShard shard : TableShard.allOf(shards)) {
            TableConfig config = whole.config();
            try (EmbeddingTable table = EmbeddingTable.create(config, device)) {
              Checkpoint.openLatest(source).restore(2, shard, table);
              assertThat(rows(table).keySet()).allMatch(shard::has).isNotEmpty();
              assertThat(table.size()).isEqualTo(rows(table).size());
              all.putAll(rows(table));
            }
          }
          assertThat(all).isEqualTo(rows(whole));
        }
      }
    }
  }

  private Path four = Path.of("");

  @BeforeEach
  void write() {
    four = folder.resolve("damaged");
  }

  private void makeFour() {
    Checkpoint.openLatest(trained(DeltaRuns.options(), 4)).reshard(four, 4);
  }

  private void assertRefused(String... said) {
    try (Device device = Device.cpu(1, 1L << 27)) {
      assertThatThrownBy(() -> Checkpoint.open(four).load(device).close())
          .isInstanceOf(DataException.class)
          .hasMessageContainingAll(said)
          .hasMessageContainingAll("got ", "expected ", "; ");
      assertThat(device.memoryInUse()).isZero();
    }
  }

  /** As a faulty writer would have: with the right digests. */
  private void rewriteManifest(int shards) throws IOException {
    Manifest manifest = Manifest.read(folder.resolve("run/step-3"));
    List<String> names =
        Stream.concat(
                Stream.of("dense.safetensors", "optimizer.safetensors", "encoders.json"),
                IntStream.range(0, 3 * shards)
                    .mapToObj(i -> "tables/" + i / shards + "." + i % shards + ".safetensors"))
            .toList();
    Manifest.write(four, Manifest.digests(four, names), manifest.facts(), Optional.empty(), shards);
  }

  @Test
  void aLostShardIsNamed() throws IOException {
    makeFour();
    Path lost = four.resolve("tables/1.2.safetensors");
    Files.delete(lost);
    assertRefused(lost.toString());
  }

  @Test
  void shardsInEachOthersPlaceAreRefused() throws IOException {
    makeFour();
    Path first = four.resolve("tables/2.0.safetensors");
    Path second = four.resolve("tables/2.1.safetensors");
    Path aside = folder.resolve("aside");
    Files.move(first, aside);
    Files.move(second, first);
    Files.move(aside, second);
    rewriteManifest(4);
    assertRefused("tables/2.", "got shard ");
  }

  @Test
  void aManifestOfFewerShardsThanThereAreIsRefused() throws IOException {
    makeFour();
    rewriteManifest(2);
    assertRefused("got shard ");
    rewriteManifest(4);
    Path manifest = four.resolve(Manifest.NAME);
    for (String shards : List.of("3", "0", "-4", "4096")) {
      String text =
          Files.readString(manifest).replaceFirst("\"shards\":-?\\d+", "\"shards\":" + shards);
      Files.writeString(manifest, text);
      Files.writeString(four.resolve("manifest.sha256"), Manifest.sha256(manifest));
      assertRefused(manifest.toString(), "\"shards\": got " + shards);
    }
  }

  @Test
  void anIdOfAnotherShardIsRefused() throws IOException {
    makeFour();
    Path file = four.resolve("tables/2.0.safetensors");
    byte[] bytes = Files.readAllBytes(file);
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    Files.write(
        file,
        text.replace("\"shard\":\"0/4\"", "\"shard\":\"1/4\"")
            .getBytes(StandardCharsets.ISO_8859_1));
    Files.move(file, folder.resolve("aside"));
    Files.move(four.resolve("tables/2.1.safetensors"), file);
    Files.move(folder.resolve("aside"), four.resolve("tables/2.1.safetensors"));
    byte[] other = Files.readAllBytes(file);
    String otherText = new String(other, StandardCharsets.ISO_8859_1);
    Files.write(
        file,
        otherText
            .replace("\"shard\":\"1/4\"", "\"shard\":\"0/4\"")
            .getBytes(StandardCharsets.ISO_8859_1));
    rewriteManifest(4);
    assertRefused("tables/2.", "expected ids of shard");
  }
}
