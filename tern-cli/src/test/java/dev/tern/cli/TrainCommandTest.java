package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What training does to files: its own and others'. */
final class TrainCommandTest {
  @TempDir Path temp;
  private Path config = Path.of("");
  private Path run = Path.of("");

  @BeforeEach
  void writeFiles() throws IOException {
    run = temp.resolve("run");
    config = Files.writeString(temp.resolve("mine.yaml"), yaml());
    rows("train.csv", 400, "");
    rows("eval.csv", 100, "");
  }

  private String yaml() {
    return """
    data:
      format: csv
      train: "%1$s/train.csv"
      eval: "%1$s/eval.csv"
      label: {column: y}
      dense: {columns: [a]}
      sparse: {columns: [c]}
    model: {type: fm, embedding: 4}
    train: {batch: 16, epochs: 2, threads: 1, memory: 64m}
    run: {dir: "%1$s/run"}
    """
        .formatted(temp);
  }

  private Path rows(String name, int rows, String last) throws IOException {
    StringBuilder text = new StringBuilder("y,a,c\n");
    for (int i = 1; i <= rows; i++) {
      text.append("%d,%s,c%d\n".formatted(i % 2, i % 13 / 10f, i % 7));
    }
    return Files.writeString(temp.resolve(name), text + last);
  }

  private Result train(String... more) {
    return tern(
        Stream.concat(Stream.of("train", config.toString()), Stream.of(more))
            .toArray(String[]::new));
  }

  /** Every file with its text, the empty lock aside. */
  private SortedMap<String, String> listing() throws IOException {
    SortedMap<String, String> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(temp)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        files.put(
            temp.relativize(file).toString(), java.util.Arrays.toString(Files.readAllBytes(file)));
      }
    }
    return files;
  }

  @Test
  void columnsUseTheTableOfAnother() throws IOException {
    String group = "{columns: [last], separator: \"|\", table: c}";
    String text = yaml().replace("{columns: [c]}", "[{columns: [c]}, " + group + "]");
    config = Files.writeString(temp.resolve("shared.yaml"), text);
    for (String name : List.of("train.csv", "eval.csv")) {
      StringBuilder lines = new StringBuilder("y,a,c,last\n");
      for (int i = 1; i <= 200; i++) {
        lines.append("%d,%s,c%d,c%d|d%d\n".formatted(i % 2, i % 13 / 10f, i % 7, i % 9, i % 3));
      }
      Files.writeString(temp.resolve(name), lines);
    }
    assertThat(train().code()).isZero();
    try (Stream<Path> all = Files.walk(run)) {
      assertThat(all.filter(file -> file.toString().contains("tables/")))
          .isNotEmpty()
          .allMatch(file -> file.endsWith("0.safetensors"));
    }
    // c0 to c8, d0 to d2.
    assertThat(tern("table", "inspect", run.toString(), "--table", "c").out())
        .contains("c: 12 rows of");
    assertThat(tern("evaluate", run.toString(), temp.resolve("eval.csv").toString()).code())
        .isZero();
    Result other = train("--set", "data.sparse[1].encode=hash", "--set", "run.dir=" + temp + "/no");
    assertThat(other.code()).isNotZero();
    assertThat(other.err()).contains("data.sparse: slot last: got the encoding Verbatim");
  }

  @Test
  void recordedStepIsReplayed() {
    Path log = temp.resolve("step.log");
    assertThat(train("--record", log.toString()).code()).isZero();
    Result replayed = tern("replay", log.toString(), "--policy", "dtr", "--budget", "1", "--json");
    assertThat(replayed.code()).isZero();
    assertThat(replayed.out()).contains("\"case\":\"step.log\"", "\"status\":\"ok\"");
    assertThat(Files.exists(temp.resolve("step.log.part"))).isFalse();
  }

  @Test
  void recordIntoAFolderThatIsNotThereIsRefusedBeforeTheTraining() {
    Result result = train("--record", temp.resolve("none").resolve("step.log").toString());
    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains("--record: got", "make the folder");
    assertThat(Files.exists(run)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--overwrite", "--resume"})
  void filesThatTernDidNotWriteSurvive(String option) throws IOException {
    for (String name : List.of("checkpoints/mine.pt", "report.html", "metrics.jsonl")) {
      Path file = run.resolve(name);
      Files.createDirectories(file.getParent());
      Files.writeString(file, "mine");
    }
    SortedMap<String, String> before = listing();
    Result result = option.isEmpty() ? train() : train(option);
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err())
        .contains("run: got a folder that holds checkpoints and no run of Tern's, expected a new")
        .contains("give --set run.dir=OTHER");
    assertThat(listing()).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--overwrite", "--resume"})
  void aConfigurationOfTheUsersOwnInTheFolderSurvives(String option) throws IOException {
    Files.createDirectories(run);
    config = Files.writeString(run.resolve("config.yaml"), yaml());
    SortedMap<String, String> before = listing();
    Result result = option.isEmpty() ? train() : train(option);
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("config.yaml: got a file that Tern did not write");
    assertThat(listing()).isEqualTo(before);
  }

  @Test
  void aRunThatFailsInReadingDataRemovesNothing() throws IOException {
    assertThat(train().code()).isZero();
    SortedMap<String, String> before = listing();
    Path broken = rows("broken.csv", 50, "1,x,c1\n");
    before.put("broken.csv", java.util.Arrays.toString(Files.readAllBytes(broken)));
    Result result = train("--overwrite", "--set", "data.train=" + broken);
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("broken.csv: line 52, byte ");
    assertThat(listing()).isEqualTo(before);
  }

  @Test
  void theRootOfTheDiskIsNoRunFolder() {
    Result result = train("--set", "run.dir=/");
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).startsWith("error: /: got a folder that holds ");
    assertThat(Path.of("/checkpoints")).doesNotExist();
  }

  @Test
  void anEvaluationThatFailsKeepsTheWeightsAndResumingGoesOn() throws IOException {
    assertThat(train("--set", "run.dir=" + temp.resolve("whole")).code()).isZero();
    rows("eval.csv", 5000, "1,x,c1\n");
    Result failed = train();
    assertThat(failed.code()).isEqualTo(1);
    assertThat(failed.err())
        .contains("eval.csv: line 5002, byte ")
        .contains(run + " keeps what was trained; --resume goes on with it");
    assertThat(run.resolve("checkpoints/step-25/manifest.json")).exists();
    rows("eval.csv", 100, "");
    Result resumed = train("--resume");
    assertThat(resumed.code()).as(resumed.err()).isZero();
    for (String file : List.of("best/dense.safetensors", "step-50/tables/0.safetensors")) {
      assertThat(run.resolve("checkpoints").resolve(file))
          .hasSameBinaryContentAs(temp.resolve("whole/checkpoints").resolve(file));
    }
  }

  /** The only checkpoint of an epoch that has not ended is that of its best evaluation. */
  @Test
  void aRunThatFailsInItsFirstEpochKeepsItsBestCheckpointAndResumingGoesOn() throws IOException {
    String text =
        yaml()
            .replace("{columns: [a]}", "{columns: [a], transform: none}")
            .replace("{columns: [c]}", "{columns: [c], encode: hash}")
            .replace("batch: 16", "batch: 64, evaluate_every: 20, shuffle: 0");
    config = Files.writeString(temp.resolve("hashed.yaml"), text);
    rows("train.csv", 8000, "1,2,c1\n");
    assertThat(train("--set", "run.dir=" + temp.resolve("whole")).code()).isZero();
    rows("train.csv", 8000, "1,x,c1\n");
    Result failed = train();
    assertThat(failed.code()).isEqualTo(1);
    assertThat(failed.err())
        .contains("train.csv: line 8002, byte ")
        .contains(run + " keeps what was trained; --resume goes on with it");
    assertThat(run.resolve("checkpoints")).isDirectoryContaining("glob:**/best");
    assertThat(run.resolve("checkpoints")).isDirectoryNotContaining("glob:**/step-*");
    rows("train.csv", 8000, "1,2,c1\n");
    Result resumed = train("--resume");
    assertThat(resumed.code()).as(resumed.err()).isZero();
    for (String file : List.of("best/dense.safetensors", "step-252/tables/0.safetensors")) {
      assertThat(run.resolve("checkpoints").resolve(file))
          .hasSameBinaryContentAs(temp.resolve("whole/checkpoints").resolve(file));
    }
  }

  @Test
  void evaluationRowsThatAreNoneAreAnErrorBeforeTraining() throws IOException {
    rows("eval.csv", 0, "");
    Result result = train();
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("eval.csv: got no rows, expected some to evaluate on");
    assertThat(run).doesNotExist();
  }

  @Test
  void resumingAndReplacingAtOnceIsWrongUsage() {
    Result result = train("--resume", "--overwrite");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("got --resume and --overwrite, expected one of them");
  }

  @Test
  void resumingOnOtherTrainingFilesIsRefused() throws IOException {
    assertThat(train().code()).isZero();
    Path other = rows("other.csv", 400, "");
    Result elsewhere = train("--resume", "--set", "data.train=" + other);
    assertThat(elsewhere.code()).isEqualTo(2);
    assertThat(elsewhere.err())
        .contains("got other training files for --resume (", other + ", was ", "train.csv");
    rows("train.csv", 401, "");
    Result longer = train("--resume");
    assertThat(longer.code()).isEqualTo(2);
    assertThat(longer.err()).contains("got other training files for --resume (");
  }

  /** Stopped by the system's signal for that, a run ends by itself and can go on. */
  @Test
  @EnabledOnOs({OS.LINUX, OS.MAC})
  void aSignalEndsTheRunWithACheckpointFromWhichItGoesOn() throws Exception {
    int steps = 400 / 4;
    Path log = temp.resolve("log");
    Process child =
        MainTest.process(
                "train",
                config.toString(),
                "--set",
                "train.batch=4",
                "--set",
                "train.epochs=1000000",
                "--set",
                "train.log_every=1")
            .redirectOutput(log.toFile())
            .start();
    try {
      Path metrics = run.resolve("metrics.jsonl");
      while (child.isAlive() && (!Files.exists(metrics) || Files.size(metrics) == 0)) {
        Thread.sleep(20);
      }
      child.destroy(); // SIGTERM
      assertThat(child.waitFor(45, TimeUnit.SECONDS)).as("ends by itself").isTrue();
    } finally {
      child.destroyForcibly();
    }
    assertThat(child.exitValue()).as(Files.readString(log)).isIn(130, 143);
    assertThat(listing().keySet()).noneMatch(file -> file.matches(".*(\\.part|\\.writing).*"));
    assertThat(Files.readString(run.resolve("report.html"))).contains("interrupted");
    int stopped;
    try (Stream<Path> checkpoints = Files.list(run.resolve("checkpoints"))) {
      stopped =
          checkpoints
              .map(path -> path.getFileName().toString())
              .filter(name -> name.startsWith("step-"))
              .mapToInt(name -> Integer.parseInt(name.substring("step-".length())))
              .max()
              .orElseThrow();
    }
    int epochs = stopped / steps + 1;
    Result resumed = train("--resume", "--set", "train.batch=4", "--set", "train.epochs=" + epochs);
    assertThat(resumed.code()).as(resumed.err()).isZero();
    assertThat(run.resolve("checkpoints/step-" + epochs * steps)).isDirectory();
  }
}
