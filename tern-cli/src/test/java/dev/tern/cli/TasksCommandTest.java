package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import dev.tern.cli.config.Config;
import dev.tern.cli.run.MetricsLine;
import dev.tern.cli.run.MetricsLog;
import dev.tern.model.Towers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands on models of several tasks. */
final class TasksCommandTest {
  @TempDir Path folder;

  private Path config;

  @BeforeEach
  void write() throws IOException {
    StringBuilder rows = new StringBuilder("click,buy,age,site\n");
    Random random = new Random(1);
    for (int i = 0; i < 600; i++) {
      int site = random.nextInt(6);
      boolean click = random.nextInt(6) < site;
      boolean buy = click && random.nextBoolean();
      rows.append(click ? 1 : 0).append(',').append(buy ? 1 : 0).append(',');
      rows.append(random.nextInt(80)).append(",s").append(site).append('\n');
    }
    Files.writeString(folder.resolve("rows.csv"), rows);
    config = folder.resolve("tasks.yaml");
    Files.writeString(
        config,
        """
        data:
          format: csv
          train: %1$s/rows.csv
          eval: %1$s/rows.csv
          labels:
            - {columns: [click]}
            - {columns: [buy], within: click, weight: 0.5}
          dense: {columns: [age]}
          sparse: {columns: [site]}
        model: {type: mmoe, embedding: 4, hidden: [8], experts: 2, towers: [4]}
        run: {dir: %1$s/run}
        train: {batch: 50, epochs: 2, optimizer: {type: adam, lr: 0.01}, memory: 256m, threads: 1}
        """
            .formatted(folder));
  }

  @Test
  void eachTaskHasMetricsAndScores() throws IOException {
    Result trained = tern("train", config.toString());
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.err()).containsPattern("evaluation  click loss .* AUC .*  buy loss .* AUC");
    assertThat(trained.out()).containsPattern("best AUC 0\\.\\d+").containsPattern("buy AUC 0\\.");
    List<MetricsLine> lines = MetricsLog.read(folder.resolve("run/metrics.jsonl"));
    MetricsLine last = lines.getLast();
    assertThat(last.tasks().stream().map(MetricsLine.Task::name)).containsExactly("click", "buy");
    assertThat(last.tasks().getFirst().auc()).isEqualTo(last.auc());
    assertThat(Files.readString(folder.resolve("run/report.html")))
        .contains(
            "AUC of each task",
            "Log loss of each task",
            "<th>AUC of buy</th>",
            "<h3>AUC of click</h3>");

    Result evaluated = tern("evaluate", folder + "/run", folder + "/rows.csv");
    assertThat(evaluated.code()).as(evaluated.err()).isZero();
    assertThat(evaluated.out())
        .contains("click rows 600")
        .containsPattern("click AUC 0\\.\\d{6}")
        .containsPattern("buy rows \\d{3}\n")
        .containsPattern("buy calibration \\d");

    Path out = folder.resolve("scores.csv");
    Result predicted =
        tern(
            "predict",
            folder + "/run",
            folder + "/rows.csv",
            "--out",
            out.toString(),
            "--keep",
            "site");
    assertThat(predicted.code()).as(predicted.err()).isZero();
    List<String> scores = Files.readAllLines(out);
    assertThat(scores).hasSize(601);
    assertThat(scores.getFirst()).isEqualTo("site,prediction_click,prediction_buy");
    assertThat(scores.get(1)).matches("s\\d,0\\.\\d+(E-\\d)?,0\\.\\d+(E-\\d)?");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "model.type=deepfm|data.labels: got 2 labels for the model deepfm, expected one",
        "model.type=esmm|data.labels.within: got click, expected none, as esmm predicts",
        "data.label.column=click|data.label.column: got the column click beside data.labels",
        "data.labels[0].columns=|data.labels.columns: got no columns, expected at least one",
        "train.monitor_task=clicks|train.monitor_task: got clicks, expected one of the labels",
        "data.labels[1].within=clicks|data.labels.within: got clicks, expected another of the"
            + " labels",
        "data.labels[1].columns=age|got the column age, which data.labels.columns has too",
        "data.labels[1].weight=0|data.labels[1].weight: got 0, expected a number from",
        "data.labels[1].missing=none|data.labels.missing: got none, expected empty or a number",
        "data.labels[1].missing=inf|data.labels.missing: got inf, expected empty or a number",
      })
  void settingsThatDoNotFitAreRefused(String setting, String message) {
    Result result = tern("train", config.toString(), "--set", setting);
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains(message);
    assertThat(folder.resolve("run")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({"empty,''", "-1,-1", "-1,''", "empty,nan"})
  void rowsMayLackALabel(String setting, String written) throws IOException {
    Path rows = folder.resolve("rows.csv");
    List<String> lines = new ArrayList<>(Files.readAllLines(rows));
    int lacking = 0;
    for (int i = 1; i < lines.size(); i += 3) {
      lines.set(i, lines.get(i).replaceFirst(",[01],", "," + written + ","));
      lacking++;
    }
    Files.write(rows, lines);
    Result refused = tern("train", config.toString());
    assertThat(refused.code()).isNotZero();
    assertThat(refused.err()).contains("rows.csv", "line 2", "column buy");
    String within = "data.labels[1].within=";
    String missing = "data.labels[1].missing=" + setting;
    Result trained = tern("train", config.toString(), "--set", missing, "--set", within);
    assertThat(trained.code()).as(trained.err()).isZero();
    Result evaluated = tern("evaluate", folder + "/run", rows.toString());
    assertThat(evaluated.code()).as(evaluated.err()).isZero();
    assertThat(evaluated.out())
        .contains("click rows 600", "buy rows " + (600 - lacking))
        .containsPattern("buy AUC 0\\.\\d{6}");
    String written2 = folder.resolve("run/config.yaml").toString();
    Result resumed = tern("train", written2, "--resume", "--set", "train.epochs=3");
    assertThat(resumed.code()).as(resumed.err()).isZero();
    Result without =
        tern(
            "train",
            written2,
            "--resume",
            "--set",
            "train.epochs=4",
            "--set",
            "data.labels[1].missing=");
    assertThat(without.code()).isNotZero();
    Path out = folder.resolve("scores.csv");
    Result predicted = tern("predict", folder + "/run", rows.toString(), "--out", out.toString());
    assertThat(predicted.code()).as(predicted.err()).isZero();
    assertThat(Files.readAllLines(out)).hasSize(601);
  }

  @Test
  void aLabelThatNoRowHasIsRefusedInTrainingAndToldInEvaluation() throws IOException {
    Path rows = folder.resolve("rows.csv");
    Path none = folder.resolve("none.csv");
    Files.writeString(none, Files.readString(rows).replaceAll("(?m)^([01]),[01],", "$1,,"));
    String missing = "data.labels[1].missing=empty";
    Result refused =
        tern("train", config.toString(), "--set", missing, "--set", "data.train=" + none);
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err())
        .contains("data.labels.missing: got no row with the label buy among 600 training rows");
    Result told = tern("train", config.toString(), "--set", missing, "--set", "data.eval=" + none);
    assertThat(told.code()).as(told.err()).isZero();
    assertThat(told.err()).contains("warning: no row of ", "has the label buy, so it has no");
    Result evaluated = tern("evaluate", folder + "/run", none.toString());
    assertThat(evaluated.out()).contains("click rows 600", "buy rows 0");
    assertThat(evaluated.err()).contains("no buy AUC: no row counts for it");
  }

  @Test
  void theConfigurationThatARunWritesServesAnother() {
    assertThat(tern("train", config.toString()).code()).isZero();
    Path written = folder.resolve("run/config.yaml");
    Result again = tern("train", written.toString(), "--set", "run.dir=" + folder.resolve("other"));
    assertThat(again.code()).as(again.err()).isZero();
    Result resumed = tern("train", written.toString(), "--resume", "--set", "train.epochs=3");
    assertThat(resumed.code()).as(resumed.err()).isZero();
    Result scored =
        tern("evaluate", folder + "/run", folder + "/rows.csv", "--set", "data.label.column=age");
    assertThat(scored.code()).isEqualTo(2);
    assertThat(scored.err()).contains("got the column age beside data.labels");
  }

  @Test
  void aModelOfOneTaskIsAsItWasBeforeThereWereSeveral() {
    Config quickstart = Config.quickstart("quickstart.yaml", List.of());
    assertThat(quickstart.model().towers()).isEqualTo(Towers.DEFAULT);
  }

  @Test
  void esmmNeedsTwoLabels() throws IOException {
    Files.writeString(
        config,
        Files.readString(config)
            .replaceAll("(?s)labels:.*?dense", "label: {column: click}\n  dense"));
    Result result = tern("train", config.toString(), "--set", "model.type=esmm");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("got 1 label for the model esmm, expected two");
  }

  @Test
  void anotherFigureOfAnotherTaskMayDecide() throws IOException {
    Result result =
        tern(
            "train",
            config.toString(),
            "--set",
            "train.monitor=log_loss",
            "--set",
            "train.monitor_task=buy",
            "--set",
            "train.epochs=60",
            "--set",
            "train.early_stop=2",
            "--set",
            "train.optimizer.lr=0.2");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains(", the best by log loss of buy");
    assertThat(result.err()).contains("no log loss of buy in 2 evaluations was better than that");
    List<MetricsLine> evaluations =
        MetricsLog.read(folder.resolve("run/metrics.jsonl")).stream()
            .filter(line -> line.split() == MetricsLine.Split.EVAL)
            .toList();
    double least =
        evaluations.stream().mapToDouble(line -> line.tasks().get(1).loss()).min().orElseThrow();
    MetricsLine best = evaluations.get(evaluations.size() - 3);
    assertThat(best.tasks().get(1).loss()).isEqualTo(least);
  }

  @Test
  void aLabelThatIsTheSameInAllRowsIsNamed() throws IOException {
    Path rows = folder.resolve("rows.csv");
    Files.writeString(rows, Files.readString(rows).replaceAll("(?m)^([01]),1,", "$1,0,"));
    Result result = tern("train", config.toString());
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err())
        .contains("training rows have the label buy 0", "have the label buy 0, so no AUC");
  }

  @Test
  void figuresByGroupAreOfEachTask() {
    assertThat(tern("train", config.toString()).code()).isZero();
    String rows = folder + "/rows.csv";
    Result evaluated = tern("evaluate", folder + "/run", rows, "--group", "site", "--at", "5");
    assertThat(evaluated.code()).as(evaluated.err()).isZero();
    assertThat(evaluated.out())
        .contains("click groups 6 by site, 5 with both labels, 5 with a positive row")
        .containsPattern("click GAUC by rows 0\\.\\d{6}\n")
        .containsPattern("buy groups 5 by site")
        .containsPattern("buy NDCG@5 0\\.\\d{6}\n")
        .containsPattern("buy MRR [01]\\.\\d{6}\n");
    assertThat(tern("evaluate", folder + "/run", rows, "--group", "town").err())
        .contains("got no column town, expected it among [click, buy, age, site]");
    assertThat(tern("evaluate", folder + "/run", rows, "--group", "site", "--at", "0").err())
        .contains("--at: got 0, expected 1 or more");
  }

  @Test
  void oneLabelMayHaveLeftOutNegatives() throws IOException {
    StringBuilder kept = new StringBuilder("click,buy,age,site\n");
    int negatives = 0;
    for (String row : Files.readAllLines(folder.resolve("rows.csv"))) {
      if (row.startsWith("1") || row.startsWith("0") && ++negatives % 4 == 0) {
        kept.append(row).append('\n');
      }
    }
    Files.writeString(folder.resolve("kept.csv"), kept);
    String text =
        Files.readString(config)
            .replace("train: " + folder + "/rows.csv", "train: " + folder + "/kept.csv")
            .replace("- {columns: [click]}", "- {columns: [click], negative_rate: 0.25}")
            .replace("    - {columns: [buy], within: click, weight: 0.5}\n", "")
            .replace("mmoe", "wdl")
            .replace(", experts: 2, towers: [4]", "")
            .replace("epochs: 2", "epochs: 8");
    Files.writeString(config, text);
    assertThat(tern("train", config.toString()).err()).doesNotContain("error");
    Result all = tern("evaluate", folder + "/run", folder + "/rows.csv");
    assertThat(all.code()).as(all.err()).isZero();
    String calibration = all.out().replaceAll("(?s).*calibration ([\\d.]+).*", "$1");
    assertThat(Double.parseDouble(calibration)).isBetween(0.85, 1.15);
  }
}
