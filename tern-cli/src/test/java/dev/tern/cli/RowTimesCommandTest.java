package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs on rows that have times. */
final class RowTimesCommandTest {
  private static final long START = Instant.parse("2026-01-01T00:00:00Z").getEpochSecond();

  @TempDir Path folder;

  private Path config;

  @BeforeEach
  void write() throws IOException {
    write("all.csv", 0, 400, "seconds");
    config = folder.resolve("times.yaml");
    Files.writeString(
        config,
        """
        data:
          format: csv
          train: %1$s/all.csv
          time: at
          label: {column: click}
          dense: {columns: [age]}
          sparse: {columns: [site]}
        model: {type: lr}
        run: {dir: %1$s/run}
        train: {batch: 50, epochs: 1, optimizer: {type: adam, lr: 0.01}, memory: 256m, threads: 1}
        """
            .formatted(folder));
  }

  private static String time(int hour, String unit) {
    Instant time = Instant.ofEpochSecond(START + 3600L * hour);
    return switch (unit) {
      case "seconds" -> Long.toString(time.getEpochSecond());
      case "milliseconds" -> Long.toString(time.toEpochMilli());
      case "date" -> time.toString().substring(0, 10);
      default -> time.toString().replace('T', ' ').replace("Z", "");
    };
  }

  /** A row an hour, the later ones first. */
  private void write(String name, int from, int count, String unit) throws IOException {
    StringBuilder rows = new StringBuilder("click,at,age,site\n");
    Random random = new Random(from);
    for (int i = count - 1; i >= 0; i--) {
      int site = random.nextInt(6);
      rows.append(random.nextInt(6) < site ? "1," : "0,").append(time(from + i, unit));
      rows.append(',').append(random.nextInt(80)).append(",s").append(site).append('\n');
    }
    Files.writeString(folder.resolve(name), rows);
  }

  private Result train(String... settings) {
    List<String> all = new ArrayList<>(List.of("train", config.toString()));
    for (String setting : settings) {
      if (setting.contains("=")) {
        all.add("--set");
      }
      all.add(setting);
    }
    return tern(all.toArray(String[]::new));
  }

  private static Result good(Result result) {
    assertThat(result.code()).as(result.err()).isZero();
    return result;
  }

  @ParameterizedTest
  @ValueSource(strings = {"seconds", "milliseconds", "text", "date"})
  void rowsFromATimeOnAreEvaluatedOnAndOthersTrained(String unit) throws IOException {
    write("all.csv", 0, 400, unit);
    Result trained = good(train("data.eval_from=2026-01-11"));
    assertThat(trained.err())
        .contains("training rows (data.time: at): 240 from 2026-01-01T00:00:00Z to 2026-01-10T")
        .contains("evaluation rows (data.time: at): 160 from 2026-01-11T00:00:00Z to 2026-01-17T")
        .doesNotContain("warning: training rows reach");
    // The same rows in two files, without times.
    List<String> lines = Files.readAllLines(folder.resolve("all.csv"));
    List<String> late = new ArrayList<>(lines.subList(0, 161));
    List<String> early = new ArrayList<>(lines.subList(161, 401));
    early.addFirst(lines.getFirst());
    Files.write(folder.resolve("early.csv"), early);
    Files.write(folder.resolve("late.csv"), late);
    good(
        train(
            "data.time=",
            "data.train=" + folder + "/early.csv",
            "data.eval=" + folder + "/late.csv",
            "run.dir=" + folder + "/two"));
    for (String name : List.of("dense.safetensors", "encoders.json", "tables/0.safetensors")) {
      assertThat(checkpoint("run", name)).as(name).isEqualTo(checkpoint("two", name));
    }
    assertThat(evaluation("run")).isEqualTo(evaluation("two"));
  }

  private byte[] checkpoint(String run, String name) throws IOException {
    try (var files = Files.walk(folder.resolve(run).resolve("checkpoints/best"))) {
      return Files.readAllBytes(
          files.filter(file -> file.toString().endsWith(name)).findFirst().orElseThrow());
    }
  }

  private String evaluation(String run) throws IOException {
    return Files.readAllLines(folder.resolve(run).resolve("metrics.jsonl")).stream()
        .filter(line -> line.contains("\"eval\""))
        .map(line -> line.replaceAll(".*(\"auc\":[0-9.]+).*", "$1"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aRunGoesOnAsItBegan() {
    good(train("data.eval_from=2026-01-11"));
    Result more = good(train("data.eval_from=2026-01-11", "train.epochs=2", "--resume"));
    assertThat(more.err()).doesNotContain("data.time: at");
    Result other = train("data.eval_from=2026-01-12", "train.epochs=3", "--resume");
    assertThat(other.code()).isNotZero();
    assertThat(other.err()).contains("data.eval_from");
  }

  @Test
  void trainingRowsLaterThanEvaluationRowsAreWarnedOf() throws IOException {
    write("early.csv", 0, 100, "text");
    write("late.csv", 50, 100, "text");
    String late = "data.train=" + folder + "/late.csv";
    Result leaks = good(train(late, "data.eval=" + folder + "/early.csv"));
    assertThat(leaks.err())
        .contains(
            "warning: training rows reach to 2026-01-07T05:00:00Z, and evaluation rows begin at"
                + " 2026-01-01T00:00:00Z");
    assertThat(good(train("--overwrite")).err())
        .contains("training rows (data.time: at): 400")
        .doesNotContain("warning: training rows reach");
  }

  @Test
  void groupsAreFiguresOfTheRowsFromTheTimeOn() {
    Result trained = good(train("data.eval_from=2026-01-11", "data.group=site"));
    assertThat(trained.err() + trained.out()).contains("GAUC");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "2026-13-01|all.csv, row 1 (line 2), byte|column at@microseconds: got \"2026-13-01\"",
        "''|all.csv, row 1 (line 2), byte|column at@microseconds: got \"\", expected a time",
      })
  void aRowWithoutATimeIsRefusedByFileAndRow(String time, String where, String message)
      throws IOException {
    Path file = folder.resolve("all.csv");
    String rows = Files.readString(file);
    String first = rows.lines().skip(1).findFirst().orElseThrow();
    String bad = first.replaceFirst(",\\d+,", "," + time + ",");
    Files.writeString(file, rows.replace(first, bad));
    for (String setting : List.of("data.eval_from=2026-01-11", "data.threads=2")) {
      Result refused = train(setting);
      assertThat(refused.code()).isNotZero();
      assertThat(refused.err()).contains(message).containsPattern("all\\.csv.*1");
      assertThat(Files.exists(folder.resolve("run"))).isFalse();
    }
    Result skipped = good(train("data.eval_from=2026-01-11", "data.bad_records=skip"));
    assertThat(skipped.err())
        .contains("evaluation rows (data.time: at): 159 from")
        .contains("training rows (data.time: at): 240 from");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "data.eval_from=2027-01-01|data.eval_from: got 2027-01-01T00:00:00Z, with none of 400 rows",
        "data.eval_from=1999-01-01|with all of 400 rows from then on, expected some rows before",
        "data.eval_from=soon|data.eval_from: got soon, expected a time or date",
        "data.time=gone|gone",
        "data.columns=click,att,age,site|data.time: got the column at, expected one of"
            + " data.columns",
      })
  void contradictionsAreRefused(String setting, String message) {
    Result refused = train(setting);
    assertThat(refused.code()).isNotZero();
    assertThat(refused.err()).contains(message);
  }

  @Test
  void aTimeToEvaluateFromNeedsTimesAndNoOtherRows() {
    assertThat(train("data.time=", "data.eval_from=2026-01-11").err())
        .contains("data.eval_from: got a time without data.time, expected the column");
    assertThat(train("data.eval_from=2026-01-11", "data.eval=" + folder + "/all.csv").err())
        .contains("data.eval_from: got a time beside data.eval, expected one of the two");
  }

  @Test
  void parquetHasTimesToo() throws IOException {
    Result converted =
        tern(
            "data",
            "convert",
            folder + "/all.csv",
            "--out",
            folder + "/all.parquet",
            "--set",
            "data.label.column=click",
            "--set",
            "data.dense.columns=age",
            "--set",
            "data.sparse[0].columns=site",
            "--set",
            "data.sparse[1].columns=at",
            "--set",
            "data.sparse[1].encode=id");
    good(converted);
    Result trained =
        good(
            train(
                "data.format=parquet",
                "data.train=" + folder + "/all.parquet",
                "data.eval_from=2026-01-11T00:00:00Z"));
    assertThat(trained.err())
        .contains("training rows (data.time: at): 240 from 2026-01-01T00:00:00Z to 2026-01-10T23")
        .contains("evaluation rows (data.time: at): 160 from 2026-01-11T00:00:00Z to 2026-01-17T");
  }

  @Test
  void foldersNamedByDayHaveTimes() throws IOException {
    List<String> lines = Files.readAllLines(folder.resolve("all.csv"));
    for (int day = 1; day <= 3; day++) {
      Path of = Files.createDirectories(folder.resolve("days/day=2026-01-0" + day));
      List<String> rows = new ArrayList<>(lines.subList(100 * day, 100 * day + 100));
      rows.addFirst(lines.getFirst());
      Files.write(of.resolve("part.csv"), rows);
    }
    Result trained =
        good(train("data.train=" + folder + "/days", "data.time=day", "data.eval_from=2026-01-03"));
    assertThat(trained.err())
        .contains("training rows (data.time: day): 200 from 2026-01-01T00:00:00Z to 2026-01-02T00")
        .contains("evaluation rows (data.time: day): 100 from 2026-01-03T00:00:00Z to 2026-01-03");
    Files.move(
        folder.resolve("days/day=2026-01-02"),
        folder.resolve("days/day=__HIVE_DEFAULT_PARTITION__"));
    assertThat(train("data.train=" + folder + "/days", "data.time=day", "--overwrite").err())
        .contains("folder of column day@microseconds: got \"\", expected a time such as");
  }
}
