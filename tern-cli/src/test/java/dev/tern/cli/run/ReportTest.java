package dev.tern.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.config.Config;
import dev.tern.cli.run.MetricsLine.Split;
import dev.tern.embedding.config.FileStatistics;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.metrics.Reliability;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ReportTest {
  private static final Machine MACHINE =
      new Machine("Some CPU, 2 cores", 24L << 30, "Linux 6 amd64", "Vendor 25");

  private static Config config() {
    return Config.parse(
        """
        data: {format: criteo-synthetic, rows: 500000}
        model: {type: deepfm, hidden: [400, 400, 400], dropout: 0.1}
        run: {dir: runs/quickstart}
        train: {batch: 1024, epochs: 3, optimizer: {type: adam, lr: 0.002, lazy: true}, seed: 1, threads: 2, memory: 1g}
        """,
        "test.yaml",
        List.of());
  }

  /** Lines of a run that learns, drawn from a fixed seed. */
  static List<MetricsLine> lines(int steps, int every, int epochs) {
    Random random = new Random(7);
    List<MetricsLine> lines = new ArrayList<>();
    for (int step = every; step <= steps; step += every) {
      long epoch = (long) (step - 1) * epochs / steps;
      double loss = 0.44 + 0.25 * Math.exp(-step / 150.0) + 0.012 * random.nextGaussian();
      double auc = 0.79 - 0.25 * Math.exp(-step / 200.0) + 0.006 * random.nextGaussian();
      double speed = 92_000 * (1 - Math.exp(-step / 50.0)) + 4000 * random.nextGaussian();
      long memory = (long) ((220 + 300 * (1 - Math.exp(-step / 400.0))) * (1 << 20));
      lines.add(
          new MetricsLine(step, epoch, Split.TRAIN, loss, auc, 1.0, speed, memory, step / 90.0));
      if ((long) (step + every - 1) * epochs / steps != epoch) {
        lines.add(
            new MetricsLine(
                step,
                epoch,
                Split.EVAL,
                0.452 + 0.05 * Math.exp(-step / 300.0),
                0.781 - 0.03 * Math.exp(-step / 300.0),
                1.012,
                310_000,
                memory,
                step / 90.0 + 1));
      }
    }
    return lines;
  }

  private static Report report(List<MetricsLine> lines) {
    return new Report(
        config(),
        lines,
        lines.stream()
            .filter(line -> line.split() == Split.EVAL && Double.isFinite(line.auc()))
            .max(Comparator.comparingDouble(MetricsLine::auc)),
        "complete",
        Optional.of(new Report.Reachable(0.7952, 0.4381)),
        MACHINE,
        "2026-11-21 12:00 UTC");
  }

  @Test
  void aBudgetFarAboveUseDoesNotFlattenTheMemoryCurve() {
    List<MetricsLine> small =
        lines(1464, 10, 3).stream()
            .map(line ->
                new MetricsLine(
                    line.step(),
                    line.epoch(),
                    line.split(),
                    line.loss(),
                    line.auc(),
                    line.calibration(),
                    line.samplesPerSecond(),
                    line.memoryBytes() / 10,
                    line.seconds()))
            .toList();
    assertThat(report(small).html()).contains("<h3>Memory</h3>").doesNotContain("budget 1024");
  }

  @Test
  void allFourChartsHaveAxesUnitsAndLegends() throws Exception {
    String html = report(lines(1464, 10, 3)).html();
    Files.writeString(Path.of("target", "report-sample.html"), html);
    assertThat(html)
        .contains("<h3>Log loss</h3>", "<h3>AUC</h3>", "<h3>Throughput</h3>", "<h3>Memory</h3>")
        .contains(
            "nats per row", "area under the ROC curve", "samples per second", ">MiB<", ">step<")
        .contains(
            "training, smoothed", "evaluation", "reachable 0.4381", "budget 1024", "end of epoch")
        .contains("Best AUC", "0.7952", "Some CPU, 2 cores", "2026-11-21");
    assertThat(html.split("<svg ", -1)).hasSize(5);
  }

  /** Lines of a run with a table for each of so many numbers of rows, all counts apart. */
  private static List<MetricsLine> linesOfTables(FileStatistics file, long filter, long... rows) {
    List<MetricsLine> lines = new ArrayList<>();
    for (MetricsLine line : lines(300, 10, 1)) {
      long step = line.step();
      List<TableStatistics> tables = new ArrayList<>();
      for (int t = 0; t < rows.length; t++) {
        long now = rows[t] * step / 300;
        tables.add(
            new TableStatistics(
                "table<" + t,
                now,
                (3 + t) << 20,
                new TableStatistics.Index((5 + t) << 10, 1.0414),
                new TableStatistics.Ids(3000 * step, 1000 * step, 900 * step, 100 * step, t * step),
                new TableStatistics.Filter(filter, filter / 1000.0),
                file));
      }
      lines.add(
          new MetricsLine(
              step,
              line.epoch(),
              line.split(),
              line.loss(),
              line.auc(),
              1,
              line.samplesPerSecond(),
              line.memoryBytes(),
              line.seconds(),
              0.01,
              List.of(),
              tables,
              List.of(),
              List.of()));
    }
    return lines;
  }

  private static List<String> cells(String html, String table) {
    String row = html.substring(html.indexOf("<td>" + table + "</td>"));
    row = row.substring(0, row.indexOf("</tr>"));
    return List.of(row.replaceFirst("^<td>", "").replaceFirst("</td>$", "").split("</td><td>"));
  }

  @Test
  void tablesAreListedWithAllTheirNumbers() throws Exception {
    FileStatistics file = new FileStatistics(70_123, 6 << 20, 80_456, 9_789, 40L << 20, 7L << 30);
    String html = report(linesOfTables(file, 123 << 10, 90_000, 1_200_000)).html();
    Files.writeString(Path.of("target", "report-tables.html"), html);
    String headings = html.substring(html.indexOf("<h2>Embedding tables</h2>"));
    assertThat(headings.substring(headings.indexOf("<tr><th>"), headings.indexOf("</tr>")))
        .isEqualTo(
            "<tr><th>table</th><th>rows</th><th>memory</th><th>index</th><th>probes</th>"
                + "<th>hits</th><th>hit rate</th><th>misses</th><th>admitted</th><th>rejected</th>"
                + "<th>evicted</th><th>filter</th><th>shared counters</th><th>file</th>"
                + "<th>rows in file</th><th>spilled</th><th>fetched</th><th>written</th>"
                + "<th>read</th>");
    assertThat(cells(html, "table&lt;1"))
        .containsExactly(
            "table&lt;1",
            "1,200,000",
            "4.00 MiB",
            "6.00 KiB",
            "1.041",
            "900,000",
            "75.0%",
            "300,000",
            "270,000",
            "30,000",
            "300",
            "123 KiB",
            "126",
            "6.00 MiB",
            "70,123",
            "80,456",
            "9,789",
            "40.0 MiB",
            "7.00 GiB");
  }

  @Test
  void columnsThatNoTableUsesAreLeftOut() {
    String html = report(linesOfTables(FileStatistics.NONE, 0, 90_000)).html();
    assertThat(html).contains("<th>evicted</th></tr>").doesNotContain("<th>filter</th>");
    assertThat(cells(html, "table&lt;0")).hasSize(11).endsWith("30,000", "0");
  }

  @Test
  void theEightLargestTablesHaveCurvesOfRowsAndHitRate() {
    long[] rows = {1000, 300, 900, 100, 800, 700, 200, 600, 500, 400};
    List<MetricsLine> lines = linesOfTables(FileStatistics.NONE, 0, rows);
    String html = report(lines).html();
    assertThat(html)
        .contains("<h3>Rows of the largest tables</h3>", "<h3>Hit rate of the largest tables</h3>")
        .contains("<title>table&lt;0, step 300: 1000</title>", "class=\"curve t8\"")
        .contains("<title>table&lt;2, step 300: 900</title>")
        .contains("<title>table&lt;2, step 10: 0.7500</title>")
        .doesNotContain("<title>table&lt;3,", "<title>table&lt;6,");
    assertThat(html.split("<svg ", -1)).hasSize(7);
  }

  @Test
  void theHitRateIsThatSinceThePointBeforeAlsoWhereCountsBeginAnew() {
    List<MetricsLine> lines = new ArrayList<>();
    long[][] counts = {{0, 100}, {90, 110}, {90, 110}, {30, 10}};
    for (int i = 0; i < counts.length; i++) {
      TableStatistics table =
          new TableStatistics(
              "t",
              9,
              1,
              new TableStatistics.Index(1, 1),
              new TableStatistics.Ids(counts[i][0], counts[i][1], 0, 0, 0),
              new TableStatistics.Filter(0, 0),
              FileStatistics.NONE);
      lines.add(
          new MetricsLine(
              i + 1,
              0,
              Split.TRAIN,
              0.5,
              0.5,
              1,
              1,
              1,
              1,
              Double.NaN,
              List.of(),
              List.of(table),
              List.of(),
              List.of()));
    }
    String html = report(lines).html();
    String chart = html.substring(html.indexOf("<h3>Hit rate of tables</h3>"));
    assertThat(chart)
        .contains("t, step 1: 0.0000<", "t, step 2: 0.9000<", "t, step 4: 0.7500<")
        .doesNotContain("t, step 3: ");
  }

  private static MetricsLine evaluated(EvaluatedTask... tasks) {
    return new MetricsLine(
        50,
        0,
        Split.EVAL,
        0.5,
        0.75,
        1,
        1,
        1,
        1,
        Double.NaN,
        List.of(),
        List.of(),
        List.of(),
        List.of(tasks));
  }

  private static EvaluatedTask task(String name, Reliability reliability) {
    return new EvaluatedTask(name, Optional.of(reliability), Optional.empty());
  }

  /** Bins of a model that predicts too little for high scores. */
  private static Reliability reliability(double least, double factor) {
    List<Reliability.Bin> bins = new ArrayList<>();
    double prediction = least;
    for (int b = 0; b < 15; b++) {
      long rows = 6_667;
      long positives = Math.round(rows * prediction * (b < 10 ? 1 : 1.1));
      bins.add(new Reliability.Bin(rows, positives, prediction));
      prediction *= factor;
    }
    return new Reliability(bins);
  }

  @Test
  void theBestEvaluationHasAPictureOfItsBinsWithCountsAndIntervals() throws Exception {
    Reliability wide = reliability(0.0004, 1.4);
    String html =
        report(List.of(evaluated(task("click", reliability(0.05, 1.18)), task("a<b", wide))))
            .html();
    Files.writeString(Path.of("target", "report-reliability.html"), html);
    assertThat(html)
        .contains("<h2>Reliability at step 50</h2>", "Predicted and observed of a&lt;b</h3>")
        .contains("ECE 0.0", "expected calibration error (ECE) 0.0")
        .contains("6,667 rows, predicted 0.0500, observed 0.0499 (0.0450 to 0.0554)")
        .contains("<td>6,667</td><td>0.0500</td><td>0.0499</td><td>0.0450 to 0.0554</td>")
        .doesNotContain("NaN", "Infinity");
    assertThat(html.split("<title>6,667 rows, predicted ", -1)).hasSize(1 + 30);
    assertThat(html.split("class=\"interval\"", -1)).hasSize(1 + 30);
    // Predictions far apart stand on a scale of powers, 6 of 15 in its lower half.
    assertThat(html).contains(">0.001</span>", ">0.01</span>");
  }

  @Test
  void anEvaluationWithoutRowsOrOfAnEarlierVersionHasNoPicture() {
    EvaluatedTask none = task("click", new Reliability(List.of()));
    assertThat(report(List.of(evaluated(none))).html()).doesNotContain("Reliability at");
    assertThat(report(List.of(evaluated())).html()).doesNotContain("Reliability at");
  }

  @Test
  void oneBinAndBinsOfRate0And1AreDrawn() {
    List<List<Reliability.Bin>> cases =
        List.of(
            List.of(new Reliability.Bin(1, 0, 0)),
            List.of(new Reliability.Bin(1, 1, 1)),
            List.of(new Reliability.Bin(3, 0, 1e-12), new Reliability.Bin(3, 3, 1)),
            List.of(new Reliability.Bin(3, 0, 1e-6), new Reliability.Bin(3, 0, 1e-3)));
    for (List<Reliability.Bin> bins : cases) {
      String html = report(List.of(evaluated(task("click", new Reliability(bins))))).html();
      assertThat(html).contains("Reliability at").doesNotContain("NaN", "Infinity");
    }
  }

  @Test
  void thePageNeedsNoScriptAndNoOtherFile() {
    assertThat(report(lines(1464, 10, 3)).html())
        .doesNotContain(
            "<script", "http://", "https://", "<link", "src=", "url(", "NaN", "Infinity");
  }

  @Test
  void aRunWithoutAnyLineStillGivesAPage() {
    Report report =
        new Report(
            config(), List.of(), Optional.empty(), "interrupted", Optional.empty(), MACHINE, "now");
    assertThat(report.html())
        .contains("Best AUC", "–", "</html>")
        .doesNotContain("<svg", "NaN", "Infinity");
  }

  @Test
  void aRunWithOneLineIsDrawnAsADot() {
    MetricsLine line = new MetricsLine(1, 0, Split.TRAIN, 0.7, Double.NaN, 1, 100, 1 << 20, 0.1);
    assertThat(report(List.of(line)).html())
        .contains("class=\"dot train\"")
        .doesNotContain("NaN", "Infinity");
  }

  @Test
  void aLongRunIsDrawnWithFewPoints() {
    String html = report(lines(2_000_000, 20, 10)).html();
    assertThat(html.length()).isLessThan(200_000);
  }

  @Test
  void textIsNeverTakenForHtml() {
    Machine evil = new Machine("<b>\"&", 1 << 30, "x", "y");
    assertThat(
            new Report(config(), List.of(), Optional.empty(), "<i>", Optional.empty(), evil, "now")
                .html())
        .contains("&lt;b&gt;&quot;&amp;", "&lt;i&gt;")
        .doesNotContain("<b>", "<i>");
  }
}
