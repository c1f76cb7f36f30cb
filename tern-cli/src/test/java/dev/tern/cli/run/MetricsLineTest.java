package dev.tern.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.run.MetricsLine.Split;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.embedding.config.FileStatistics;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.metrics.GroupMetrics;
import dev.tern.metrics.Reliability;
import dev.tern.metrics.Reliability.Bin;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MetricsLineTest {
  /** As a version wrote it that knew neither indexes nor bytes of traffic. */
  private static final String OLD =
      "{\"step\":7,\"epoch\":0,\"split\":\"train\",\"loss\":0.5,\"auc\":0.75,\"calibration\":1.0,"
          + "\"samples_per_second\":1000.0,\"memory_bytes\":4096,\"seconds\":1.5,\"waiting\":null,"
          + "\"tables\":[{\"table\":\"city\",\"rows\":20,\"bytes\":640,\"hits\":5,\"misses\":20,"
          + "\"admitted\":20,\"rejected\":0,\"evicted\":0,\"file_rows\":3,\"file_bytes\":1048576,"
          + "\"spilled\":4,\"fetched\":1}]}";

  private static MetricsLine line(TableStatistics... tables) {
    return new MetricsLine(
        7,
        0,
        Split.TRAIN,
        0.5,
        0.75,
        1,
        1000,
        4096,
        1.5,
        Double.NaN,
        List.of(),
        List.of(tables),
        List.of(),
        List.of());
  }

  @Test
  void tasksComeBackFromTheFile() {
    List<MetricsLine.Task> tasks =
        List.of(
            new MetricsLine.Task("click", 0.5, 0.75, 1),
            new MetricsLine.Task("a \"b\"", 0.25, Double.NaN, Double.POSITIVE_INFINITY));
    MetricsLine line =
        new MetricsLine(
            7,
            0,
            Split.EVAL,
            0.5,
            0.75,
            1,
            1,
            1,
            1,
            Double.NaN,
            tasks,
            List.of(),
            List.of(),
            List.of());
    assertThat(line.toJson())
        .contains("\"click\":{\"loss\":0.5,\"auc\":0.75,\"calibration\":1.0}")
        .contains("\"auc\":null,\"calibration\":null");
    List<MetricsLine.Task> read = MetricsLine.parse(line.toJson(), "metrics.jsonl").tasks();
    assertThat(read.getFirst()).isEqualTo(tasks.getFirst());
    assertThat(read.getLast())
        .isEqualTo(new MetricsLine.Task("a \"b\"", 0.25, Double.NaN, Double.NaN));
  }

  @Test
  void binsOfEachTaskComeBackFromTheFile() {
    EvaluatedTask.Groups groups =
        new EvaluatedTask.Groups(
            "user",
            10,
            new GroupMetrics.Result(
                new GroupMetrics.Counts(3, 2, 1),
                new GroupMetrics.Auc(0.5, 0.25, Double.NaN),
                new GroupMetrics.Order(0.1, 0.2, 0.3, 0.4)));
    Reliability click = new Reliability(List.of(new Bin(4, 1, 0.125), new Bin(4, 3, 0.5)));
    MetricsLine line =
        new MetricsLine(
            7,
            0,
            Split.EVAL,
            0.5,
            1,
            1,
            1,
            1,
            1,
            Double.NaN,
            List.of(),
            List.of(),
            List.of(),
            List.of(
                new EvaluatedTask("a \"b\"", Optional.of(click), Optional.of(groups)),
                new EvaluatedTask(
                    "buy", Optional.of(new Reliability(List.of())), Optional.empty())));
    assertThat(line.toJson())
        .contains("\"calibration\":1.0,\"ece\":0.1875,\"gauc\":0.5,")
        .contains("\"column\":\"user\",\"at\":10,\"groups\":3,\"mixed\":2,\"positive\":1,")
        .contains("\"gauc_by_rows\":0.5,\"gauc_by_positives\":0.25,\"gauc_by_groups\":null,")
        .contains("\"reliability\":[{\"rows\":4,\"positives\":1,\"prediction\":0.125},")
        .contains("\"buy\":{\"reliability\":[]}");
    assertThat(MetricsLine.parse(line.toJson(), "metrics.jsonl")).isEqualTo(line);
  }

  @Test
  void missingAndUnknownValuesComeBackFromTheFile() {
    List<ColumnCounts.Column> columns =
        List.of(
            new ColumnCounts.Column("a \"b\"", 9, 2, 0, 0),
            new ColumnCounts.Column("c", 9, 0, 9, 4));
    MetricsLine line =
        new MetricsLine(
            7,
            0,
            Split.EVAL,
            0.5,
            1,
            1,
            1,
            1,
            1,
            Double.NaN,
            List.of(),
            List.of(),
            columns,
            List.of());
    assertThat(line.toJson())
        .contains("\"c\":{\"rows\":9,\"missing\":0,\"values\":9,\"unknown\":4}");
    assertThat(MetricsLine.parse(line.toJson(), "metrics.jsonl")).isEqualTo(line);
    assertThat(ColumnsSection.of(List.of(line, line(new TableStatistics[0]))))
        .contains("<td>c</td><td>9</td><td>0</td><td>0.00%</td><td>9</td><td>4</td><td>44.44%")
        .contains("<td>a &quot;b&quot;</td>");
    assertThat(ColumnsSection.of(List.of(line(new TableStatistics[0])))).isEmpty();
  }

  @Test
  void whatTablesCountComesBackFromTheFile() {
    TableStatistics plain =
        new TableStatistics(
            "a",
            1,
            2,
            new TableStatistics.Index(3, 1.0625),
            new TableStatistics.Ids(4, 5, 6, 7, 8),
            new TableStatistics.Filter(0, 0),
            FileStatistics.NONE);
    TableStatistics empty =
        new TableStatistics(
            "b",
            0,
            2,
            new TableStatistics.Index(3, Double.NaN),
            new TableStatistics.Ids(0, 0, 0, 0, 0),
            new TableStatistics.Filter(0, 0),
            FileStatistics.NONE);
    TableStatistics all =
        new TableStatistics(
            "c",
            1,
            2,
            new TableStatistics.Index(3, 1.5),
            new TableStatistics.Ids(4, 5, 6, 7, 8),
            new TableStatistics.Filter(9, 10.5),
            new FileStatistics(11, 12, 13, 14, 15, 16));
    MetricsLine line = line(plain, empty, all);
    assertThat(MetricsLine.parse(line.toJson(), "test")).isEqualTo(line);
    assertThat(line.toJson())
        .contains("\"index_bytes\":3,\"probes\":1.5,\"hits\":4", "\"file_bytes\":12")
        .contains("\"spilled\":13,\"fetched\":14,\"bytes_written\":15,\"bytes_read\":16");
  }

  @Test
  void aResumedRunGoesOnWithLinesOfAnEarlierVersion(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("metrics.jsonl");
    Files.writeString(file, OLD + "\n");
    MetricsLine earlier =
        line(
            new TableStatistics(
                "city",
                20,
                640,
                new TableStatistics.Index(0, Double.NaN),
                new TableStatistics.Ids(5, 20, 20, 0, 0),
                new TableStatistics.Filter(0, 0),
                new FileStatistics(3, 1 << 20, 4, 1, 0, 0)));
    MetricsLine later =
        new MetricsLine(
            9,
            0,
            Split.TRAIN,
            0.4,
            0.8,
            1,
            1000,
            4096,
            2,
            0,
            List.of(),
            earlier.tables(),
            List.of(),
            List.of());
    try (MetricsLog log = MetricsLog.open(file, 7)) {
      assertThat(log.lines()).containsExactly(earlier);
      log.append(later);
    }
    assertThat(MetricsLog.read(file)).containsExactly(earlier, later);
  }
}
