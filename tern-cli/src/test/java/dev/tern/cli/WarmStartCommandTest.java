package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code tern train --from}. */
final class WarmStartCommandTest {
  @TempDir Path folder;

  private Path config;

  @BeforeEach
  void trainTheFirstDay() throws IOException {
    for (int day = 1; day <= 2; day++) {
      StringBuilder rows = new StringBuilder("click,age,site\n");
      Random random = new Random(day);
      for (int i = 0; i < 400; i++) {
        int site = random.nextInt(6) + day;
        rows.append(random.nextInt(8) < site ? 1 : 0).append(',');
        rows.append(random.nextInt(80)).append(",s").append(site).append('\n');
      }
      Files.writeString(folder.resolve("day" + day + ".csv"), rows);
    }
    config = folder.resolve("daily.yaml");
    Files.writeString(
        config,
        """
        data:
          format: csv
          train: %1$s/day1.csv
          eval: %1$s/day1.csv
          label: {column: click}
          dense: {columns: [age]}
          sparse: {columns: [site]}
        model: {type: deepfm, embedding: 4, hidden: [8]}
        run: {dir: %1$s/run1}
        train: {batch: 50, epochs: 2, optimizer: {type: adam, lr: 0.01}, memory: 256m, threads: 1}
        """
            .formatted(folder));
    Result first = tern("train", config.toString());
    assertThat(first.code()).as(first.err()).isZero();
  }

  private Result second(String... more) {
    String[] command = {
      "train",
      config.toString(),
      "--set",
      "data.train=" + folder.resolve("day2.csv"),
      "--set",
      "run.dir=" + folder.resolve("run2")
    };
    String[] all = Arrays.copyOf(command, command.length + more.length);
    System.arraycopy(more, 0, all, command.length, more.length);
    return tern(all);
  }

  @Test
  void aRunBeginsWithTheWeightsOfAnother() throws IOException {
    Result result = second("--from", folder.resolve("run1").toString());
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err())
        .contains("begins with the weights of " + folder.resolve("run1"))
        .contains("new values: site 1")
        .doesNotContain("so new");
    assertThat(Files.readString(folder.resolve("run2/config.yaml")))
        .contains("from: [" + folder.resolve("run1") + "]");

    Result resumed = second("--resume", "--set", "train.epochs=3");
    assertThat(resumed.code()).as(resumed.err()).isZero();
    assertThat(resumed.err()).doesNotContain("begins with the weights");
    assertThat(Files.readString(folder.resolve("run2/config.yaml"))).contains("from: [" + folder);
    Result other = second("--resume", "--from", folder.resolve("run3").toString());
    assertThat(other.code()).isNotZero();
    assertThat(other.err()).contains("train.from: ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "train.optimizer.type=ftrl|train.from: got weights to begin with for ftrl",
        "model.type=wdl|got the model WDL, expected DEEPFM as in",
      })
  void settingsThatDoNotFitAreRefused(String setting, String message) {
    Result result = second("--from", folder.resolve("run1").toString(), "--set", setting);
    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains(message);
    assertThat(folder.resolve("run2")).doesNotExist();
  }

  @Test
  void theStateOfOptimizersGoesOnWhereItIsAskedFor() {
    String run1 = folder.resolve("run1").toString();
    Result result = second("--from", run1, "--set", "train.from_state=true");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err()).contains("begins with the weights and the optimizers' state of");
    assertThat(Checkpoint.openLatest(folder.resolve("run2")).step()).isEqualTo(2 * 16);
    Result without = second("--set", "train.from_state=true");
    assertThat(without.code()).isEqualTo(2);
    assertThat(without.err()).contains("train.from_state: got true without an earlier run");
    Result other =
        second(
            "--overwrite",
            "--from",
            run1,
            "--set",
            "train.from_state=true",
            "--set",
            "train.optimizer.beta1=0.8");
    assertThat(other.code()).isNotZero();
    assertThat(other.err()).contains("whose state it goes on with");
  }

  @Test
  void frozenLayersAreNamedByPatterns() {
    String run1 = folder.resolve("run1").toString();
    Result result = second("--from", run1, "--set", "model.frozen=[deep.*, out.weight]");
    assertThat(result.code()).as(result.err()).isZero();
    Result unknown = second("--overwrite", "--from", run1, "--set", "model.frozen=[depe.*]");
    assertThat(unknown.code()).isNotZero();
    assertThat(unknown.err()).contains("got the frozen parameter depe.*, expected names");
    Result without = second("--overwrite", "--set", "model.frozen=[deep.*]");
    assertThat(without.code()).isEqualTo(2);
    assertThat(without.err())
        .contains("model.frozen: got [deep.*] in a run whose weights are random");
  }

  @Test
  void theRunThatWouldBeReplacedIsNoneToBeginWith() {
    String own = folder.resolve("run1").toString();
    Result result = tern("train", config.toString(), "--overwrite", "--from", own);
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("which is in the folder of this run");
    assertThat(folder.resolve("run1/report.html")).exists();
  }

  @Test
  void frozenTablesHaveTheirRowsFromTheEarlierRun() throws IOException {
    String[] frozen = {
      "--set", "model.tables.columns=site", "--set", "model.tables.trainable=false"
    };
    Result without = second(frozen);
    assertThat(without.code()).isEqualTo(2);
    assertThat(without.err())
        .contains("model.tables.trainable: got false in a run that begins with empty tables");
    String[] with = Arrays.copyOf(frozen, 6);
    with[4] = "--from";
    with[5] = folder.resolve("run1").toString();
    Result result = second(with);
    assertThat(result.code()).as(result.err()).isZero();
    List<String> rows = new ArrayList<>();
    for (String run : List.of("run1", "run2")) {
      Path out = folder.resolve(run + ".txt");
      String from = folder.resolve(run).toString();
      Result exported =
          tern("table", "export", from, "--table", "site", "--latest", "--out", out.toString());
      assertThat(exported.code()).as(exported.err()).isZero();
      rows.add(Files.readString(out));
    }
    assertThat(rows.get(1)).isEqualTo(rows.get(0)).isNotEmpty();
  }

  @Test
  void noNameIsRefused() {
    Result result = second("--from", "");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("--from: got nothing");
    assertThat(folder.resolve("run2")).doesNotExist();
  }

  @Test
  void aFolderWithoutACheckpointIsRefused() {
    Result result = second("--from", folder.resolve("nothing").toString());
    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains(folder.resolve("nothing").toString());
    assertThat(folder.resolve("run2")).doesNotExist();
  }
}
