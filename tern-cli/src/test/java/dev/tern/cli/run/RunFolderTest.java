package dev.tern.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.MetricsLine.Split;
import dev.tern.cli.run.RunFolder.Earlier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RunFolderTest {
  @TempDir Path temp;

  private Config config(String... overrides) {
    List<String> all = new ArrayList<>(List.of("run.dir=" + temp.resolve("run")));
    all.addAll(Arrays.asList(overrides));
    return Config.parse(
        "{data: {format: criteo-synthetic}, model: {type: lr}, run: {dir: x}}", "test.yaml", all);
  }

  private static void begin(Config config, Earlier earlier) {
    try (RunFolder folder = RunFolder.open(config, earlier)) {
      folder.begin(config, earlier);
    }
  }

  private static MetricsLine line(long step) {
    return new MetricsLine(step, 0, Split.TRAIN, 0.5, Double.NaN, 1, 10, 1, step);
  }

  @Test
  void theFolderHoldsTheResolvedConfiguration() {
    Config config = config();
    try (RunFolder folder = RunFolder.open(config, Earlier.REFUSE)) {
      folder.begin(config, Earlier.REFUSE);
      assertThat(Config.load(RunFolder.config(folder.dir()), List.of())).isEqualTo(config);
      assertThat(folder.checkpoints()).isDirectory();
    }
  }

  @Test
  void anEarlierRunIsRefusedResumedOrReplaced() throws IOException {
    begin(config(), Earlier.REFUSE);
    Path checkpoint = temp.resolve("run/checkpoints/step-1/weights");
    Files.createDirectories(checkpoint.getParent());
    Files.writeString(checkpoint, "x");
    Files.writeString(temp.resolve("run/mine.txt"), "x");
    assertThatThrownBy(() -> RunFolder.open(config(), Earlier.REFUSE))
        .isInstanceOf(RunException.class)
        .hasMessageContaining(
            "got a folder with an earlier run, expected a new one; give --resume");
    begin(config(), Earlier.RESUME);
    RunFolder.open(config(), Earlier.REPLACE).close();
    assertThat(checkpoint).exists();
    begin(config(), Earlier.REPLACE);
    assertThat(checkpoint).doesNotExist();
    assertThat(temp.resolve("run/mine.txt")).exists();
  }

  @Test
  void resumingWithAnotherModelIsRefusedAndWithMoreEpochsIsNot() {
    begin(config(), Earlier.REFUSE);
    begin(config("train.epochs=9", "train.threads=1"), Earlier.RESUME);
    assertThatThrownBy(
            () -> RunFolder.open(config("model.type=fm", "train.batch=7"), Earlier.RESUME))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("model.type: fm, was lr")
        .hasMessageContaining("train.batch: 7, was 4096")
        .hasMessageContaining("model.embedding: 16, was nothing");
  }

  @Test
  void twoRunsCannotShareAFolder() {
    try (RunFolder _ = RunFolder.open(config(), Earlier.REFUSE)) {
      assertThatThrownBy(() -> RunFolder.open(config(), Earlier.RESUME))
          .isInstanceOf(RunException.class)
          .hasMessageContaining("another run is at work");
    }
    RunFolder.open(config(), Earlier.RESUME).close();
  }

  @Test
  void aRunThatNeverBeganLeavesNothing() throws IOException {
    Config config = config("run.dir=" + temp.resolve("a/b/run"));
    try (RunFolder folder = RunFolder.open(config, Earlier.REFUSE)) {
      assertThat(folder.dir()).isDirectory();
    }
    assertThat(temp).isEmptyDirectory();
    Files.createDirectories(temp.resolve("a/b"));
    RunFolder.open(config, Earlier.RESUME).close();
    assertThat(temp.resolve("a/b")).isEmptyDirectory();
  }

  @Test
  void aFileInPlaceOfTheFolderIsReported() throws IOException {
    Files.writeString(temp.resolve("run"), "");
    assertThatThrownBy(() -> RunFolder.open(config(), Earlier.REFUSE))
        .isInstanceOf(RunException.class)
        .hasMessageContaining(temp.resolve("run").toString())
        .hasMessageContaining("expected a folder that can be written");
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
    assertThat(MetricsLine.parse(line(1).toJson(), "test")).isEqualTo(line(1));
  }
}
