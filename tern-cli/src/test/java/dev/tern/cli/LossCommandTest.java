package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.cli.MainTest.Result;
import dev.tern.cli.run.MetricsLine;
import dev.tern.cli.run.MetricsLog;
import dev.tern.metrics.ClassMetrics;
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
import org.junit.jupiter.params.provider.ValueSource;

/** Commands on models of numbers, counts and rates. */
final class LossCommandTest {
  @TempDir Path folder;

  private Path config;

  @BeforeEach
  void write() throws IOException {
    StringBuilder rows = new StringBuilder("click,rate,price,count,age,site\n");
    Random random = new Random(1);
    for (int i = 0; i < 800; i++) {
      int site = random.nextInt(6);
      boolean click = random.nextInt(6) < site;
      rows.append(click ? 1 : 0).append(',').append(site / 6.0).append(',');
      rows.append(site - 2 + random.nextGaussian() / 4)
          .append(',')
          .append(random.nextInt(1 + site));
      rows.append(',').append(random.nextInt(80)).append(",s").append(site).append('\n');
    }
    Files.writeString(folder.resolve("rows.csv"), rows);
    config = folder.resolve("loss.yaml");
    Files.writeString(
        config,
        """
        data:
          format: csv
          train: %1$s/rows.csv
          eval: %1$s/rows.csv
          labels: [{columns: [price], loss: mse}]
          dense: {columns: [age]}
          sparse: {columns: [site]}
        model: {type: lr}
        run: {dir: %1$s/run}
        train: {batch: 50, epochs: 6, optimizer: {type: adam, lr: 0.1}, memory: 256m, threads: 1}
        """
            .formatted(folder));
  }

  private Result train(String... settings) {
    List<String> all = new ArrayList<>(List.of("train", config.toString()));
    for (String setting : settings) {
      all.addAll(List.of("--set", setting));
    }
    return tern(all.toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"mse", "mae", "huber"})
  void valuesHaveFiguresOfTheirOwnFromTrainingToTheReport(String loss) throws IOException {
    Result trained = train("data.labels[0].loss=" + loss);
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.err())
        .containsPattern("evaluation  loss \\d.* R2 0\\.\\d")
        .doesNotContain("AUC");
    assertThat(trained.out()).containsPattern("best loss \\d.*, MSE .*, MAE .*, R2 0\\.9");
    MetricsLine last = MetricsLog.read(folder.resolve("run/metrics.jsonl")).getLast();
    assertThat(last.values().orElseThrow().r2()).isGreaterThan(0.9);
    assertThat(last.auc()).isNaN();
    assertThat(MetricsLine.parse(last.toJson(), "line")).isEqualTo(last);
    assertThat(Files.readString(folder.resolve("run/report.html")))
        .contains("Best R2", "MAE", "1 is right, 0 the mean label")
        .doesNotContain("AUC", "Log loss");
    Result evaluated = tern("evaluate", folder + "/run", folder + "/rows.csv");
    assertThat(evaluated.code()).as(evaluated.err()).isZero();
    assertThat(evaluated.out())
        .contains("rows 800")
        .containsPattern("MSE 0\\.")
        .containsPattern("MAE 0\\.")
        .containsPattern("R2 0\\.9")
        .containsPattern("SMAPE \\d\\.")
        .doesNotContain("AUC");
    Path bare = folder.resolve("bare.csv");
    Files.writeString(bare, "site,age\ns0,20\ns5,20\n");
    Path out = folder.resolve("scores.csv");
    assertThat(tern("predict", folder + "/run", bare.toString(), "--out", out.toString()).code())
        .isZero();
    List<String> scores = Files.readAllLines(out);
    assertThat(Double.parseDouble(scores.get(1))).isCloseTo(-2, within(0.6));
    assertThat(Double.parseDouble(scores.get(2))).isCloseTo(3, within(0.6));
  }

  @Test
  void countsAreTheExponentialOfTheLogit() {
    Result trained =
        train("data.labels[0].columns=count", "data.labels[0].loss=poisson", "train.monitor=mae");
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.out()).contains("the best by MAE");
    Result evaluated = tern("evaluate", folder + "/run", folder + "/rows.csv");
    String calibration = evaluated.out().split("calibration ")[1].split("\n")[0];
    assertThat(Double.parseDouble(calibration)).isCloseTo(1, within(0.1));
  }

  @Test
  void softLabelsAreRatesAndHaveAnAuc() {
    Result trained = train("data.labels[0].columns=rate", "data.labels[0].loss=soft-bce");
    assertThat(trained.code()).as(trained.err()).isZero();
    Result evaluated = tern("evaluate", folder + "/run", folder + "/rows.csv");
    assertThat(evaluated.code()).as(evaluated.err()).isZero();
    assertThat(evaluated.out())
        .containsPattern("AUC 0\\.8")
        .containsPattern("calibration (0\\.9|1\\.0)")
        .doesNotContain("95%", "GAUC");
    Result grouped = tern("evaluate", folder + "/run", folder + "/rows.csv", "--group", "site");
    assertThat(grouped.code()).isNotZero();
    assertThat(grouped.err()).contains("the losses [soft-bce], expected one of labels 0 and 1");
  }

  @Test
  void tasksOfProbabilitiesAndValuesStandSideBySide() throws IOException {
    Files.writeString(
        config,
        Files.readString(config)
            .replace(
                "[{columns: [price], loss: mse}]",
                "[{columns: [click], loss: focal, gamma: 1}, {columns: [price], within: click,"
                    + " loss: huber, delta: 0.5, weight: 0.5}]"));
    Result trained =
        train(
            "model.type=mmoe",
            "model.embedding=4",
            "model.hidden=8",
            "model.towers=4",
            "train.optimizer.lr=0.02",
            "train.epochs=20",
            "train.monitor=r2",
            "train.monitor_task=price");
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.err()).containsPattern("click loss .* AUC .*  price loss .* R2 ");
    assertThat(trained.out()).contains("the best by R2 of price").containsPattern("price loss");
    assertThat(Files.readString(folder.resolve("run/report.html")))
        .contains("AUC or R2 of each task", "<th>R2 of price</th>");
    Result evaluated = tern("evaluate", folder + "/run", folder + "/rows.csv");
    assertThat(evaluated.out()).containsPattern("click AUC 0\\.").containsPattern("price R2 0\\.");
  }

  /** With six ads and counts below each one's number, the classes are counts of at most 5. */
  @Test
  void classesHaveAProbabilityEachFromTrainingToThePrediction() throws IOException {
    String[] settings = {
      "data.labels[0].columns=count",
      "data.labels[0].loss=softmax",
      "data.labels[0].classes=6",
      "model.type=sharedbottom",
      "model.embedding=4",
      "model.hidden=8",
      "train.optimizer.lr=0.02",
      "train.epochs=15"
    };
    Result trained = train(settings);
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.err())
        .containsPattern("evaluation  count loss [01]\\.\\d+  accuracy 0\\.\\d+");
    assertThat(trained.out()).containsPattern("best count log loss [01]\\.\\d+, accuracy 0\\.");
    MetricsLine last = MetricsLog.read(folder.resolve("run/metrics.jsonl")).getLast();
    ClassMetrics.Result classes = last.evaluated().getFirst().classes().orElseThrow();
    // Of an ad the classes 0 to its number are as likely: the best loss is the mean of log(1 + n).
    double best = Math.log(2 * 3 * 4 * 5 * 6) / 6;
    assertThat(classes.logLoss()).isBetween(best - 0.1, best + 0.1);
    assertThat(MetricsLine.parse(last.toJson(), "line")).isEqualTo(last);
    Result evaluated = tern("evaluate", folder + "/run", folder + "/rows.csv");
    assertThat(evaluated.code()).as(evaluated.err()).isZero();
    assertThat(evaluated.out())
        .contains("count rows 800", "count=0 AUC ", "count=5 AUC ")
        .containsPattern("count accuracy 0\\.\\d{6}")
        .containsPattern("count log loss [01]\\.\\d{6}");
    Path bare = Files.writeString(folder.resolve("bare.csv"), "site,age\ns0,20\ns5,20\n");
    Path out = folder.resolve("scores.csv");
    assertThat(tern("predict", folder + "/run", bare.toString(), "--out", out.toString()).code())
        .isZero();
    List<String> scores = Files.readAllLines(out);
    assertThat(scores.getFirst()).startsWith("prediction_count=0,prediction_count=1,");
    assertThat(scores).hasSize(3);
    double sum = 0;
    for (String score : scores.get(2).split(",")) {
      assertThat(Double.parseDouble(score)).isBetween(0.05, 0.4);
      sum += Double.parseDouble(score);
    }
    assertThat(sum).isCloseTo(1, within(1e-5));
    assertThat(Double.parseDouble(scores.get(1).split(",")[0])).isGreaterThan(0.8);
    settings[7] = "train.monitor_task=count";
    settings[5] = "run.dir=" + folder + "/named";
    assertThat(train(settings).out()).contains(", the best by loss of count");
    settings[2] = "data.labels[0].classes=5";
    settings[7] = "run.dir=" + folder + "/other";
    assertThat(train(settings).err())
        .contains("rows.csv", "line ", "got label \"5\"", "expected a whole number from 0 to 4");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "model.type=wdl|which gives one logit a row",
        "train.monitor=gauc|train.monitor",
        "train.monitor=normalized_entropy|which is a class, expected log_loss",
        "data.labels[0].classes=1|data.labels",
        "data.labels[0].classes=101|data.labels",
        "data.labels[0].positive_weight=2|got softmax beside positive_weight",
      })
  void whatClassesDoNotGoWithIsRefused(String setting, String message) {
    Result refused =
        train(
            "data.labels[0].columns=count",
            "data.labels[0].loss=softmax",
            "data.labels[0].classes=6",
            "model.type=sharedbottom",
            "model.embedding=4",
            "model.hidden=8",
            setting);
    assertThat(refused.code()).isNotZero();
    assertThat(refused.err()).contains(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "price|soft-bce|got label|expected 0 to 1",
        "price|poisson|got label|expected a finite number of 0 or more",
        "rate|bce|got label|expected 0 or 1",
        "rate|focal|got label|expected 0 or 1",
        "site|mse|got label|expected a finite number",
      })
  void labelsThatALossDoesNotTakeAreRefusedByFileAndRow(
      String column, String loss, String got, String expected) {
    Result refused =
        train(
            "data.labels[0].columns=" + column,
            "data.labels[0].loss=" + loss,
            column.equals("site") ? "data.sparse[0].columns=count" : "train.epochs=1");
    assertThat(refused.code()).isNotZero();
    assertThat(refused.err()).contains("rows.csv", "line ", got, expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "train.monitor=log_loss|train.monitor: got log_loss for the label price, whose loss is mse",
        "data.labels[0].positive_weight=2|data.labels.loss: got mse beside positive_weight",
        "data.labels[0].loss=l2|expected one of bce",
        "data.labels[0].delta=2|data.labels",
      })
  void contradictionsAreRefused(String setting, String message) {
    Result refused = train(setting);
    assertThat(refused.code()).isNotZero();
    assertThat(refused.err()).contains(message);
  }
}
