package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import dev.tern.cli.config.Config;
import dev.tern.cli.run.RunFolder;
import dev.tern.cli.run.RunFolder.Earlier;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class QuickstartCommandTest {
  @TempDir Path temp;

  private static List<String> command() {
    List<String> command = new ArrayList<>(List.of("quickstart"));
    for (String value :
        List.of(
            "data.rows=2000",
            "data.eval_rows=500",
            "data.scale=0.001",
            "model.type=lr",
            "train.epochs=1",
            "train.memory=64m",
            "train.threads=1")) {
      command.addAll(List.of("--set", value));
    }
    return command;
  }

  private Result quickstart(String... more) {
    List<String> command = command();
    command.addAll(List.of("--set", "run.dir=" + temp.resolve("run")));
    command.addAll(List.of(more));
    return tern(command.toArray(String[]::new));
  }

  /** The folder is relative to where the command runs, which only a process can choose. */
  @ParameterizedTest
  @EnumSource(RunFolder.Maker.class)
  void theUsualFolderIsReplacedWhereAQuickstartMadeIt(RunFolder.Maker maker) throws Exception {
    Path dir = temp.toRealPath().resolve("runs/quickstart");
    Config config = Config.quickstart("quickstart.yaml", List.of("run.dir=" + dir));
    try (RunFolder folder =
        RunFolder.open(config, Earlier.REFUSE, maker, new RunFolder.Inputs(List.of(), List.of()))) {
      folder.begin();
      folder.writeReport("earlier");
    }
    Process process =
        MainTest.process(command().toArray(String[]::new)).directory(temp.toFile()).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    boolean replaced = maker == RunFolder.Maker.QUICKSTART;
    assertThat(process.waitFor()).as(said).isEqualTo(replaced ? 0 : 1);
    assertThat(said).contains(replaced ? "predictions " : "got a folder with an earlier run");
    assertThat(Files.readString(dir.resolve("report.html")).equals("earlier")).isEqualTo(!replaced);
  }

  @Test
  void aFolderGivenThatHoldsARunIsReplacedOnlyWhereAsked() throws IOException {
    Result first = quickstart();
    assertThat(first.code()).as(first.err()).isZero();
    Path predictions = temp.resolve("run/predictions.csv");
    assertThat(Files.readAllLines(predictions)).hasSize(501);
    Result second = quickstart("--set", "train.seed=2");
    assertThat(second.code()).isEqualTo(1);
    assertThat(second.err())
        .contains("got a folder with an earlier run, expected a new one; give --overwrite");
    Result third = quickstart("--overwrite", "--set", "data.eval_rows=300");
    assertThat(third.code()).as(third.err()).isZero();
    assertThat(Files.readAllLines(predictions)).hasSize(301);
  }

  @Test
  void predictionsOfSomebodyElseAreNotReplaced() throws IOException {
    Path mine = Files.createDirectories(temp.resolve("run")).resolve("predictions.csv");
    Files.writeString(mine, "mine");
    Result result = quickstart("--overwrite");
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("predictions.csv: got a file that no quickstart wrote");
    assertThat(mine).hasContent("mine");
    assertThat(temp.resolve("run/config.yaml")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "data.eval_rows=0 | quickstart: got data.eval_rows 0, expected at least 1 row",
        "data.format=csv  | quickstart: got data.format csv, expected criteo-synthetic",
      })
  void settingsThatLeaveNothingToScoreAreRefusedBeforeTraining(String setting, String message) {
    Result result =
        setting.endsWith("csv")
            ? tern(
                "quickstart",
                "--set",
                setting,
                "--set",
                "data.train=x.csv",
                "--set",
                "data.dense.columns=a",
                "--set",
                "data.sparse.columns=c")
            : quickstart("--set", setting);
    assertThat(result.code()).as(result.err()).isEqualTo(2);
    assertThat(result.err()).contains(message);
    assertThat(temp.resolve("run")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({"csv,rows.csv", "norm,rows.norm", "parquet,rows.parquet"})
  void theModelScoresFilesOfItsColumns(String format, String name) throws IOException {
    assertThat(quickstart().code()).isZero();
    Path rows = temp.resolve(name);
    Result made =
        tern(
            "data",
            "generate",
            "--rows",
            "300",
            "--scale",
            "0.001",
            "--seed",
            "1",
            "--format",
            format,
            "--out",
            rows.toString());
    assertThat(made.code()).as(made.err()).isZero();
    String run = temp.resolve("run").toString();
    Path scores = temp.resolve("scores.csv");
    Result untold = tern("predict", run, rows.toString(), "--out", scores.toString());
    assertThat(untold.err()).contains("give --set data.format=FORMAT");
    Result scored =
        tern(
            "predict",
            run,
            rows.toString(),
            "--out",
            scores.toString(),
            "--set",
            "data.format=" + format);
    assertThat(scored.code()).as(scored.err()).isZero();
    assertThat(Files.readAllLines(scores)).hasSize(301);
    Result evaluated = tern("evaluate", run, rows.toString(), "--set", "data.format=" + format);
    assertThat(evaluated.code()).as(evaluated.err()).isZero();
    assertThat(evaluated.out()).contains("rows 300");
  }
}
