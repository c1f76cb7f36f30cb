package dev.tern.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.MetricsLine.Split;
import dev.tern.cli.run.RunFolder.Earlier;
import dev.tern.cli.run.RunFolder.Maker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RunFolderTest {
  @TempDir Path temp;

  private Config config(String... overrides) {
    List<String> all = new ArrayList<>(List.of("run.dir=" + temp.resolve("run")));
    all.addAll(Arrays.asList(overrides));
    return Config.parse(
        "{data: {format: criteo-synthetic}, model: {type: lr}, run: {dir: x}}", "test.yaml", all);
  }

  private static RunFolder open(Config config, Earlier earlier) {
    return open(config, earlier, Maker.TRAIN);
  }

  private static RunFolder open(Config config, Earlier earlier, Maker maker, Path... files) {
    return RunFolder.open(config, earlier, maker, new RunFolder.Inputs(List.of(files), List.of()));
  }

  private static void begin(Config config, Earlier earlier) {
    begin(config, earlier, Maker.TRAIN);
  }

  private static void begin(Config config, Earlier earlier, Maker maker, Path... files) {
    try (RunFolder folder = open(config, earlier, maker, files)) {
      folder.begin();
    }
  }

  private static MetricsLine line(long step) {
    return new MetricsLine(step, 0, Split.TRAIN, 0.5, Double.NaN, 1, 10, 1, step);
  }

  @Test
  void theFolderHoldsTheResolvedConfiguration() {
    Config config = config();
    try (RunFolder folder = open(config, Earlier.REFUSE)) {
      folder.begin();
      assertThat(Config.load(RunFolder.config(folder.dir()), List.of())).isEqualTo(config);
      assertThat(folder.checkpoints()).isDirectory();
    }
  }

  @Test
  void anEarlierRunIsRefusedResumedOrReplaced() throws IOException {
    begin(config(), Earlier.REFUSE);
    Path checkpoint = temp.resolve("run/checkpoints/step-1/manifest.json");
    Path delta = temp.resolve("run/checkpoints/step-2.delta/manifest.json");
    for (Path manifest : List.of(checkpoint, delta)) {
      Files.createDirectories(manifest.getParent());
      Files.writeString(manifest, "x");
    }
    Files.writeString(temp.resolve("run/mine.txt"), "x");
    assertThatThrownBy(() -> open(config(), Earlier.REFUSE))
        .isInstanceOf(RunException.class)
        .hasMessageContaining(
            "got a folder with an earlier run, expected a new one; give --resume");
    begin(config(), Earlier.RESUME);
    open(config(), Earlier.REPLACE).close();
    assertThat(checkpoint).exists();
    begin(config(), Earlier.REPLACE);
    assertThat(checkpoint).doesNotExist();
    assertThat(delta).doesNotExist();
    assertThat(temp.resolve("run/mine.txt")).exists();
  }

  @Test
  void resumingWithAnotherModelIsRefusedAndWithMoreEpochsIsNot() {
    begin(config(), Earlier.REFUSE);
    begin(config("train.epochs=9", "train.threads=1"), Earlier.RESUME);
    assertThatThrownBy(() -> open(config("model.type=fm", "train.batch=7"), Earlier.RESUME))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("model.type: fm, was lr")
        .hasMessageContaining("train.batch: 7, was 4096")
        .hasMessageContaining("model.embedding: 16, was nothing");
  }

  @Test
  void twoRunsCannotShareAFolder() {
    try (RunFolder _ = open(config(), Earlier.REFUSE)) {
      assertThatThrownBy(() -> open(config(), Earlier.RESUME))
          .isInstanceOf(RunException.class)
          .hasMessageContaining("another run is at work");
    }
    open(config(), Earlier.RESUME).close();
  }

  @Test
  void aRunThatNeverBeganLeavesNothing() throws IOException {
    Config config = config("run.dir=" + temp.resolve("a/b/run"));
    try (RunFolder folder = open(config, Earlier.REFUSE)) {
      assertThat(folder.dir()).isDirectory();
    }
    assertThat(temp).isEmptyDirectory();
    Files.createDirectories(temp.resolve("a/b"));
    open(config, Earlier.RESUME).close();
    assertThat(temp.resolve("a/b")).isEmptyDirectory();
  }

  @Test
  void aFileInPlaceOfTheFolderIsReported() throws IOException {
    Files.writeString(temp.resolve("run"), "");
    assertThatThrownBy(() -> open(config(), Earlier.REFUSE))
        .isInstanceOf(RunException.class)
        .hasMessageContaining(temp.resolve("run").toString())
        .hasMessageContaining("expected a folder that can be written");
  }

  /** Every file below the folder, with its text. */
  private SortedMap<String, String> listing() throws IOException {
    SortedMap<String, String> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(temp)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        files.put(temp.relativize(file).toString(), Files.readString(file));
      }
    }
    return files;
  }

  private void put(String name) throws IOException {
    Path file = temp.resolve("run").resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "mine");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "config.yaml",
        "metrics.jsonl",
        "report.html",
        "predictions.csv",
        "checkpoints/mine.pt",
        "checkpoints/best/manifest.json",
        "data.csv"
      })
  void aFolderWithFilesThatAreNoRunsIsLeftAsItIs(String name) throws IOException {
    put(name);
    SortedMap<String, String> before = listing();
    for (Earlier earlier : Earlier.values()) {
      assertThatThrownBy(() -> open(config(), earlier))
          .isInstanceOf(RunException.class)
          .hasMessageContaining("give --set run.dir=OTHER");
      assertThat(listing()).as(earlier.name()).isEqualTo(before);
    }
  }

  @Test
  void aConfigurationChangedSinceItWasWrittenIsNeverReplaced() throws IOException {
    begin(config(), Earlier.REFUSE);
    Path file = temp.resolve("run/config.yaml");
    Files.writeString(file, Files.readString(file) + "# my note\n");
    SortedMap<String, String> before = listing();
    for (Earlier earlier : Earlier.values()) {
      assertThatThrownBy(() -> open(config(), earlier))
          .hasMessageContaining("config.yaml: got a file that Tern did not write, or that was");
      assertThat(listing()).as(earlier.name()).isEqualTo(before);
    }
  }

  @Test
  void replacingARunRemovesItsOwnFilesAndNoOthers() throws IOException {
    begin(config(), Earlier.REFUSE);
    for (String name :
        List.of(
            "metrics.jsonl", "report.html", "schedule.json", "checkpoints/best/manifest.json")) {
      put(name);
    }
    List<String> others = List.of("mine.csv", "predictions.csv", "checkpoints/mine.pt");
    for (String name : others) {
      put(name);
    }
    begin(config(), Earlier.REPLACE);
    assertThat(listing().keySet())
        .containsExactlyInAnyOrder(
            "run/.lock",
            "run/config.yaml",
            "run/mine.csv",
            "run/predictions.csv",
            "run/checkpoints/mine.pt");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "step-4/mine.txt",
        "step-5.delta/mine.txt",
        "best",
        "step-9/tables/0.csv",
        "best/dense/x"
      })
  void aStrangeFileAmongTheCheckpointsKeepsARunFromBeingReplaced(String name) throws IOException {
    begin(config(), Earlier.REFUSE);
    put("metrics.jsonl");
    put("checkpoints/" + name);
    SortedMap<String, String> before = listing();
    assertThatThrownBy(() -> open(config(), Earlier.REPLACE))
        .isInstanceOf(RunException.class)
        .hasMessageContaining("got a file that Tern did not write among the checkpoints");
    assertThat(listing()).isEqualTo(before);
  }

  @Test
  void aRunThatIsAbandonedRemovesOnlyWhatItWrote() throws IOException {
    begin(config(), Earlier.REFUSE);
    put("checkpoints/best/manifest.json");
    SortedMap<String, String> before = listing();
    try (RunFolder folder = open(config(), Earlier.REPLACE)) {
      folder.abandon(); // failed before it began
    }
    assertThat(listing()).isEqualTo(before);
    try (RunFolder folder = open(config(), Earlier.RESUME)) {
      folder.begin();
      folder.abandon();
    }
    assertThat(listing()).isEqualTo(before);
    put("mine.txt");
    try (RunFolder folder = open(config(), Earlier.REPLACE)) {
      folder.begin();
      folder.metrics(0).close();
      folder.writeReport("x");
      folder.abandon();
    }
    assertThat(listing().keySet()).containsExactlyInAnyOrder("run/.lock", "run/mine.txt");
  }

  @Test
  void theFilesOfAQuickstartAreReplacedWithItAndItsMarkSurvivesResuming() throws IOException {
    begin(config(), Earlier.REFUSE, Maker.QUICKSTART);
    put("predictions.csv");
    begin(config("train.epochs=3"), Earlier.RESUME);
    assertThat(RunFolder.maker(temp.resolve("run"))).contains(Maker.QUICKSTART);
    assertThat(listing()).containsKey("run/predictions.csv");
    begin(config(), Earlier.REPLACE);
    assertThat(RunFolder.maker(temp.resolve("run"))).contains(Maker.TRAIN);
    assertThat(listing()).doesNotContainKey("run/predictions.csv");
  }

  @Test
  void resumingOnOtherTrainingFilesIsRefusedAndNamesThem() throws IOException {
    Path a = Files.writeString(temp.resolve("a.csv"), "12345");
    Path b = Files.writeString(temp.resolve("b.csv"), "123");
    begin(config(), Earlier.REFUSE, Maker.TRAIN, a, b);
    begin(config(), Earlier.RESUME, Maker.TRAIN, a, b);
    assertThatThrownBy(() -> open(config(), Earlier.RESUME, Maker.TRAIN, a))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("for --resume (nothing, was 3 bytes, " + b + "), expected");
    assertThatThrownBy(() -> open(config(), Earlier.RESUME, Maker.TRAIN, b, a))
        .hasMessageContaining("got other training files for --resume");
    Files.writeString(b, "1234");
    assertThatThrownBy(() -> open(config(), Earlier.RESUME, Maker.TRAIN, a, b))
        .hasMessageContaining("(4 bytes, " + b + ", was 3 bytes, " + b + ")");
  }

  @Test
  void aFileDeepInAFolderOfTrainingDataCounts() throws IOException {
    Path data = Files.createDirectories(temp.resolve("data/day=1")).getParent();
    Path deep = Files.writeString(data.resolve("day=1/a.csv"), "12345");
    Files.writeString(data.resolve("b.csv"), "123");
    begin(config(), Earlier.REFUSE, Maker.TRAIN, data);
    begin(config(), Earlier.RESUME, Maker.TRAIN, data);
    Files.writeString(deep, "1234");
    assertThatThrownBy(() -> open(config(), Earlier.RESUME, Maker.TRAIN, data))
        .hasMessageContaining("(7 bytes, " + data + ", was 8 bytes, " + data + ")");
  }

  @Test
  void aMarkOfTheBytesRightInAFolderHolds() throws IOException {
    Path data = Files.createDirectories(temp.resolve("data/day=1")).getParent();
    Files.writeString(data.resolve("day=1/a.csv"), "12345");
    Files.writeString(data.resolve("b.csv"), "123");
    Mark mark = new Mark(Maker.TRAIN, List.of("3 bytes, " + data), List.of());
    assertThat(mark.isOf(List.of(data))).isTrue();
    assertThat(new Mark(Maker.TRAIN, List.of("8 bytes, " + data), List.of()).isOf(List.of(data)))
        .isTrue();
    assertThat(new Mark(Maker.TRAIN, List.of("5 bytes, " + data), List.of()).isOf(List.of(data)))
        .isFalse();
  }

  @Test
  void linesBeyondTheStepAndTornOnesAreCut() throws IOException {
    Path file = temp.resolve("metrics.jsonl");
    try (MetricsLog log = MetricsLog.open(file, 0)) {
      for (long step = 1; step <= 5; step++) {
        log.append(line(step));
      }
    }
    Files.writeString(file, Files.readString(file) + line(6).toJson().substring(0, 20));
    assertThat(MetricsLog.read(file))
        .extracting(MetricsLine::step)
        .containsExactly(1L, 2L, 3L, 4L, 5L);
    try (MetricsLog log = MetricsLog.open(file, 3)) {
      log.append(line(4));
      assertThat(log.lines()).extracting(MetricsLine::step).containsExactly(1L, 2L, 3L, 4L);
    }
    assertThat(Files.readAllLines(file)).hasSize(4);
    assertThat(MetricsLog.read(file)).containsExactly(line(1), line(2), line(3), line(4));
  }

  @Test
  void aLineIsReadBackAsWritten() {
    MetricsLine line = new MetricsLine(7, 2, Split.EVAL, 0.25, 0.75, 1.5, 1234.5, 99, 3.25);
    assertThat(line.toJson())
        .isEqualTo(
            "{\"step\":7,\"epoch\":2,\"split\":\"eval\",\"loss\":0.25,\"auc\":0.75,\"calibration\":1.5,"
                + "\"samples_per_second\":1234.5,\"memory_bytes\":99,\"seconds\":3.25}");
    assertThat(MetricsLine.parse(line.toJson(), "test")).isEqualTo(line);
    MetricsLine waited =
        new MetricsLine(
            7,
            2,
            Split.TRAIN,
            0.25,
            0.75,
            1.5,
            10,
            99,
            3.25,
            0.03,
            List.of(),
            List.of(),
            List.of(),
            List.of());
    assertThat(waited.toJson()).contains("\"waiting\":0.03");
    assertThat(MetricsLine.parse(waited.toJson(), "test")).isEqualTo(waited);
    assertThat(MetricsLine.parse(line(1).toJson(), "test")).isEqualTo(line(1));
  }
}
