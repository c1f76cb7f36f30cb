package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.MainTest.Result;
import dev.tern.cli.run.DaysReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tern train --days}: one day after another. */
final class DailyTrainingTest {
  @TempDir Path folder;

  private Path config;
  private String pattern = "";

  @BeforeEach
  void write() throws IOException {
    for (int day = 1; day <= 3; day++) {
      writeDay(day);
    }
    config = folder.resolve("daily.yaml");
    pattern = folder + "/day=*";
    Files.writeString(
        config,
        """
        data:
          format: csv
          train: %1$s/none.csv
          label: {column: click}
          dense: {columns: [age]}
          sparse: {columns: [site]}
        model: {type: wdl, embedding: 4, hidden: [8]}
        run: {dir: %1$s/run}
        train: {batch: 50, epochs: 2, optimizer: {type: adam, lr: 0.01}, memory: 256m, threads: 1}
        """
            .formatted(folder));
  }

  /** A folder of a day. Each day has a site that no day before had. */
  private void writeDay(int day) throws IOException {
    StringBuilder rows = new StringBuilder("click,age,site\n");
    Random random = new Random(day);
    for (int i = 0; i < 400; i++) {
      int site = random.nextInt(5 + day);
      rows.append(random.nextInt(7) < site ? 1 : 0).append(',').append(random.nextInt(80));
      rows.append(",s").append(site).append('\n');
    }
    Path dir = Files.createDirectories(folder.resolve("day=0" + day));
    Files.writeString(dir.resolve("part-0.csv"), rows);
  }

  private Result daily(String... more) {
    List<String> command = new ArrayList<>(List.of("train", config.toString(), "--days", pattern));
    command.addAll(List.of(more));
    return tern(command.toArray(String[]::new));
  }

  @Test
  void theStateOfOptimizersMayGoOnFromDayToDay() throws IOException {
    Result result = daily("--set", "train.from_state=true");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err()).contains("begins with the weights and the optimizers' state of");
    Path last = folder.resolve("run/day=03");
    assertThat(Checkpoint.openLatest(last).step()).isEqualTo(3 * 16);
    List<String> lines = Files.readAllLines(last.resolve("metrics.jsonl"));
    assertThat(lines.getLast()).contains("\"step\":48");
  }

  @Test
  void eachDayIsTestedBeforeItIsTrainedOn() throws IOException {
    Result result = daily();
    assertThat(result.code()).as(result.err()).isZero();
    Path run = folder.resolve("run");
    List<DaysReport.Day> days = DaysReport.read(run).days();
    assertThat(days.stream().map(DaysReport.Day::name))
        .containsExactly("day=01", "day=02", "day=03");
    assertThat(days.getFirst().auc()).isNaN();
    assertThat(days.get(2).auc()).isBetween(0.6, 1.0);
    assertThat(result.out()).contains("day=01  AUC –").containsPattern("day=03  AUC 0\\.\\d{4}");
    assertThat(days.getFirst().ece()).isNaN();
    assertThat(days.get(2).ece()).isBetween(1e-6, 0.5);
    assertThat(Files.readString(run.resolve("days.html")))
        .contains("<h3>AUC</h3>", "<h3>ECE</h3>", "<th>ECE</th>", "day=03");
    assertThat(run.resolve("day=02/checkpoints")).doesNotExist();
    assertThat(run.resolve("day=03/checkpoints")).exists();

    // By hand: the first two days, and then the third as rows to be evaluated.
    String first = folder + "/first";
    String day1 = folder + "/day=01";
    String day2 = folder + "/day=02";
    String second = folder + "/second";
    ok("train", config.toString(), "--set", "data.train=" + day1, "--set", "run.dir=" + first);
    ok(
        "train",
        config.toString(),
        "--set",
        "data.train=" + day2,
        "--set",
        "run.dir=" + second,
        "--from",
        first);
    String evaluated = ok("evaluate", second, folder + "/day=03");
    assertThat(evaluated).contains("AUC " + String.format(Locale.ROOT, "%.6f", days.get(2).auc()));
    assertThat(evaluated)
        .contains("ECE in 15 bins " + String.format(Locale.ROOT, "%.6f", days.get(2).ece()));
  }

  @Test
  void daysOfAnEarlierVersionHaveNoEce() throws IOException {
    Files.writeString(
        folder.resolve("days.jsonl"),
        "{\"day\":\"a\",\"loss\":0.5,\"auc\":0.75,\"calibration\":1.0}\n");
    DaysReport.Day day = DaysReport.read(folder).days().getFirst();
    assertThat(day.auc()).isEqualTo(0.75);
    assertThat(day.ece()).isNaN();
  }

  private static String ok(String... command) {
    Result result = tern(command);
    assertThat(result.code()).as(result.err()).isZero();
    return result.out();
  }

  @Test
  void itGoesOnWithDaysThatCameLater() throws IOException {
    assertThat(daily().code()).isZero();
    List<DaysReport.Day> before = DaysReport.read(folder.resolve("run")).days();
    writeDay(4);
    Result refused = daily();
    assertThat(refused.code()).isNotZero();
    Result more = daily("--resume");
    assertThat(more.code()).as(more.err()).isZero();
    List<DaysReport.Day> after = DaysReport.read(folder.resolve("run")).days();
    assertThat(after).hasSize(4);
    assertThat(after.subList(0, 3)).isEqualTo(before);
    assertThat(after.get(3).auc()).isBetween(0.5, 1.0);
  }

  @Test
  void mistakesAreNamed() throws IOException {
    assertThat(daily("--from", folder.toString()).err()).contains("got --days with --from");
    assertThat(daily("--resume", "--overwrite").err()).contains("expected one of them");
    assertThat(daily().code()).isZero();
    Files.move(folder.resolve("day=02"), folder.resolve("day=00"));
    Result moved = daily("--resume");
    assertThat(moved.code()).isNotZero();
    assertThat(moved.err()).contains("--days: got day=00 as day 1, expected day=01");
    pattern = folder + "/none=*";
    assertThat(daily().err()).contains("got no file that matches");
  }
}
