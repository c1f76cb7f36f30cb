package dev.tern.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.config.Config;
import dev.tern.cli.run.MetricsLine.Split;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

  @Test
  void thePageNeedsNoScriptAndNoOtherFile() {
    assertThat(report(lines(1464, 10, 3)).html())
        .doesNotContain(
            "<script", "http://", "https://", "<link", "src=", "url(", "NaN", "Infinity");
  }

  @Test
  void aRunWithoutAnyLineStillGivesAPage() {
    Report report =
        new Report(config(), List.of(), "interrupted", Optional.empty(), MACHINE, "now");
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
    assertThat(new Report(config(), List.of(), "<i>", Optional.empty(), evil, "now").html())
        .contains("&lt;b&gt;&quot;&amp;", "&lt;i&gt;")
        .doesNotContain("<b>", "<i>");
  }
}
