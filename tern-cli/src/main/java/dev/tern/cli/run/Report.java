package dev.tern.cli.run;

import dev.tern.cli.config.Config;
import dev.tern.cli.run.MetricsLine.Split;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * The web page about a run: the main numbers, curves over steps, the evaluations, the embedding
 * tables, configuration and machine. The page needs no other file and no script.
 *
 * @param config of the run
 * @param lines its metrics
 * @param top the best evaluation, if there was one
 * @param state how it ended, in a few words
 * @param best the best that any model can reach on the evaluation data, where that is known
 * @param machine it ran on
 * @param date it ended, in words
 */
public record Report(
    Config config,
    List<MetricsLine> lines,
    Optional<MetricsLine> top,
    String state,
    Optional<Reachable> best,
    Machine machine,
    String date) {
  private static final int MAX_EVALUATIONS = 100;
  private static final int MAX_MARKS = 30;
  private static final double MIB = 1 << 20;

  /**
   * The metrics of the true probabilities of the rows.
   *
   * @param auc area under the ROC curve
   * @param loss mean log loss in nats
   */
  public record Reachable(double auc, double loss) {}

  /** The page. */
  public String html() {
    StringBuilder out = new StringBuilder();
    Path dir = config.run().dir();
    String name = Optional.ofNullable(dir.getFileName()).orElse(dir).toString();
    String title = name + " · " + config.modelName();
    out.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .append(
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                + "<meta name=\"color-scheme\" content=\"light dark\">\n")
        .append("<title>")
        .append(Html.text(title))
        .append(" · Tern</title>\n<style>\n")
        .append(style())
        .append("</style>\n</head>\n<body>\n<main>\n");
    out.append("<header><h1>")
        .append(Html.text(name))
        .append(" <small>")
        .append(Html.text(config.modelName()))
        .append("</small></h1><p>")
        .append(Html.text(state + " · " + date))
        .append("</p></header>\n");
    tiles(out);
    out.append("<section class=\"charts\">\n");
    taskCharts().forEach(chart -> out.append(chart.html()));
    charts().forEach(chart -> out.append(chart.html()));
    out.append("</section>\n");
    evaluations(out);
    shown()
        .ifPresent(line ->
            out.append(ReliabilitySection.of(line))
                .append(GroupsSection.of(of(Split.EVAL)))
                .append(RetrievalSection.of(of(Split.EVAL))));
    out.append(ColumnsSection.of(lines));
    out.append(TablesSection.of(lines, epochEnds()));
    facts(out);
    out.append("<section><details><summary>Configuration in full</summary><pre>")
        .append(Html.text(config.yaml()))
        .append("</pre></details></section>\n");
    return out.append("</main>\n</body>\n</html>\n").toString();
  }

  /** The best evaluation, or else the last. */
  private Optional<MetricsLine> shown() {
    List<MetricsLine> eval = of(Split.EVAL);
    return top.or(() -> eval.isEmpty() ? Optional.empty() : Optional.of(eval.getLast()));
  }

  private List<MetricsLine> of(Split split) {
    return lines.stream().filter(line -> line.split() == split).toList();
  }

  private void tiles(StringBuilder out) {
    List<MetricsLine> train = of(Split.TRAIN);
    out.append("<section class=\"tiles\">\n");
    String step = top.map(line -> "at step " + Format.whole(line.step())).orElse("not evaluated");
    tile(
        out,
        "Best " + scale() + ofFirst(),
        top.map(line -> Format.fixed(scaled(line), 4)).orElse("–"),
        step);
    best.ifPresent(reachable ->
        tile(
            out,
            "Reachable AUC",
            Format.fixed(reachable.auc(), 4),
            top.map(line -> Format.fixed(reachable.auc() - line.auc(), 4) + " above").orElse("")));
    if (!config.model().ranks()) {
      tile(
          out,
          lossName(),
          top.map(line -> Format.fixed(line.loss(), 4)).orElse("–"),
          best.map(r -> "reachable " + Format.fixed(r.loss(), 4)).orElse(unit()));
      top.flatMap(MetricsLine::values)
          .ifPresent(of -> {
            tile(out, "MSE", Format.fixed(of.mse(), 4), "mean squared error");
            tile(out, "MAE", Format.fixed(of.mae(), 4), "mean absolute error");
          });
      tile(
          out,
          "Calibration",
          top.map(line -> Format.fixed(line.calibration(), 3)).orElse("–"),
          top.map(MetricsLine::calibrationError)
              .filter(Double::isFinite)
              .map(error -> "1 is ideal; ECE " + Format.fixed(error, 4))
              .orElse("1 is ideal"));
    }
    tile(
        out,
        "Speed",
        Format.rate(median(train, MetricsLine::samplesPerSecond)),
        "samples/s, median");
    long peak = lines.stream().mapToLong(MetricsLine::memoryBytes).max().orElse(0);
    tile(out, "Peak memory", Format.bytes(peak), "of " + Format.bytes(config.train().memory()));
    tile(
        out,
        "Time",
        Format.time(lines.isEmpty() ? Double.NaN : lines.getLast().seconds()),
        Format.whole(lines.isEmpty() ? 0 : lines.getLast().step()) + " steps");
    out.append("</section>\n");
  }

  /** Whether the first task predicts values, which have R2 in the place of AUC. */
  private boolean isOfValues() {
    return !lines.isEmpty() && lines.getLast().values().isPresent();
  }

  private String scale() {
    return isOfValues() ? "R2" : "AUC";
  }

  private static double scaled(MetricsLine line) {
    return line.values().map(MetricsLine.Values::r2).orElse(line.auc());
  }

  private static double scaled(MetricsLine.Task task) {
    return task.values().map(MetricsLine.Values::r2).orElse(task.auc());
  }

  private String unit() {
    return isOfValues() ? "mean per row" : "nats per row";
  }

  private static void tile(StringBuilder out, String name, String value, String note) {
    out.append("<div class=\"tile\"><div class=\"name\">")
        .append(Html.text(name))
        .append("</div><div class=\"value\">")
        .append(Html.text(value))
        .append("</div><div class=\"note\">")
        .append(Html.text(note))
        .append("</div></div>\n");
  }

  /** " of " and the first task's name, for a model of several. */
  private String ofFirst() {
    return lines.isEmpty() || lines.getLast().tasks().isEmpty()
        ? ""
        : " of " + lines.getLast().tasks().getFirst().name();
  }

  /** The tasks of a model of several, in evaluations. */
  private List<Chart> taskCharts() {
    List<MetricsLine> eval = of(Split.EVAL);
    boolean values =
        !eval.isEmpty()
            && eval.getLast().tasks().stream().anyMatch(task -> task.values().isPresent());
    return List.of(
        new Chart(
            values ? "AUC or R2 of each task" : "AUC of each task",
            values ? "in evaluation" : "area under the ROC curve, in evaluation",
            4,
            false,
            taskCurves(eval, Report::scaled),
            List.of(),
            epochEnds()),
        new Chart(
            values ? "Loss of each task" : "Log loss of each task",
            values ? "mean per row, in evaluation" : "nats per row, in evaluation",
            4,
            false,
            taskCurves(eval, MetricsLine.Task::loss),
            List.of(),
            epochEnds()));
  }

  private static List<Chart.Series> taskCurves(
      List<MetricsLine> eval, ToDoubleFunction<MetricsLine.Task> value) {
    List<Chart.Series> curves = new ArrayList<>();
    int tasks = eval.isEmpty() ? 0 : eval.getLast().tasks().size();
    for (int k = 0; k < tasks; k++) {
      int task = k;
      List<MetricsLine> known = eval.stream().filter(line -> line.tasks().size() > task).toList();
      String name = eval.getLast().tasks().get(k).name();
      curves.add(
          new Chart.Series(
              name,
              "t" + (k % 8 + 1),
              true,
              points(known, line -> value.applyAsDouble(line.tasks().get(task)))));
    }
    return curves;
  }

  private String lossName() {
    return config.model().ranks() || isOfValues() ? "Loss" : "Log loss";
  }

  private List<Chart> charts() {
    List<MetricsLine> train = of(Split.TRAIN);
    List<MetricsLine> eval = of(Split.EVAL);
    List<Long> marks = epochEnds();
    List<Chart.Reference> loss =
        best.map(r -> List.of(new Chart.Reference("reachable", r.loss()))).orElse(List.of());
    List<Chart.Reference> auc =
        best.map(r -> List.of(new Chart.Reference("reachable", r.auc()))).orElse(List.of());
    List<Chart.Series> lossCurves = new ArrayList<>(smoothed(points(train, MetricsLine::loss)));
    lossCurves.add(new Chart.Series("evaluation", "eval", true, points(eval, MetricsLine::loss)));
    List<Chart.Series> aucCurves = new ArrayList<>(smoothed(points(train, Report::scaled)));
    aucCurves.add(new Chart.Series("evaluation", "eval", true, points(eval, Report::scaled)));
    return List.of(
        new Chart(lossName() + ofFirst(), unit(), 4, false, lossCurves, loss, marks),
        new Chart(
            scale() + ofFirst(),
            isOfValues() ? "1 is right, 0 the mean label" : "area under the ROC curve",
            4,
            false,
            aucCurves,
            auc,
            marks),
        new Chart(
            "Throughput",
            "samples per second",
            0,
            true,
            List.of(
                new Chart.Series(
                    "training", "train", true, points(train, MetricsLine::samplesPerSecond)),
                new Chart.Series(
                    "evaluation", "eval", true, points(eval, MetricsLine::samplesPerSecond))),
            List.of(),
            marks),
        new Chart(
            "Memory",
            "MiB",
            0,
            true,
            List.of(
                new Chart.Series(
                    "in use", "train", true, points(lines, line -> line.memoryBytes() / MIB))),
            budget(),
            marks));
  }

  /** The budget as a line, unless the use is so low that the curve would be flat. */
  private List<Chart.Reference> budget() {
    long most = lines.stream().mapToLong(MetricsLine::memoryBytes).max().orElse(0);
    long budget = config.train().memory();
    return most < budget / 10 ? List.of() : List.of(new Chart.Reference("budget", budget / MIB));
  }

  private static List<Chart.Point> points(
      List<MetricsLine> lines, ToDoubleFunction<MetricsLine> value) {
    return lines.stream()
        .filter(line -> Double.isFinite(value.applyAsDouble(line)))
        .map(line -> new Chart.Point(line.step(), value.applyAsDouble(line)))
        .toList();
  }

  /** A long curve as a faint line with its moving average; a short one as it is. */
  private static List<Chart.Series> smoothed(List<Chart.Point> points) {
    if (points.size() < 30) {
      return List.of(new Chart.Series("training", "train", true, points));
    }
    double keep = 1 - 1.0 / Math.max(3, points.size() / 40.0);
    double sum = 0;
    double weight = 0;
    List<Chart.Point> smooth = new ArrayList<>();
    for (Chart.Point point : points) {
      sum = keep * sum + point.value();
      weight = keep * weight + 1;
      smooth.add(new Chart.Point(point.step(), sum / weight));
    }
    return List.of(
        new Chart.Series("", "faint", false, points),
        new Chart.Series("training, smoothed", "train", false, smooth));
  }

  /** The last step of each epoch except the last one; none if they are too many to show. */
  private List<Long> epochEnds() {
    List<Long> ends = new ArrayList<>();
    for (int i = 1; i < lines.size(); i++) {
      if (lines.get(i).epoch() > lines.get(i - 1).epoch()) {
        ends.add(lines.get(i - 1).step());
      }
    }
    return ends.size() > MAX_MARKS ? List.of() : ends;
  }

  private void evaluations(StringBuilder out) {
    List<MetricsLine> eval = of(Split.EVAL);
    if (eval.isEmpty()) {
      return;
    }
    List<MetricsLine> shown = eval.subList(Math.max(0, eval.size() - MAX_EVALUATIONS), eval.size());
    out.append(
            "<section><h2>Evaluations</h2><div class=\"scroll\"><table"
                + " class=\"numbers\"><thead><tr><th>step</th><th>epoch</th><th>")
        .append(Html.text(scale() + ofFirst()))
        .append("</th><th>")
        .append(isOfValues() ? "loss</th><th>MSE</th><th>MAE" : "log loss")
        .append("</th><th>calibration</th><th>ECE</th><th>samples/s</th><th>time</th>");
    List<MetricsLine.Task> tasks = eval.getLast().tasks();
    for (MetricsLine.Task task : tasks.subList(Math.min(1, tasks.size()), tasks.size())) {
      boolean values = task.values().isPresent();
      out.append(values ? "<th>R2 of " : "<th>AUC of ")
          .append(Html.text(task.name()))
          .append(values ? "</th><th>loss</th>" : "</th><th>log loss</th>");
    }
    out.append("</tr></thead><tbody>\n");
    for (MetricsLine line : shown) {
      boolean isTop = top.filter(line::equals).isPresent();
      out.append(isTop ? "<tr class=\"best\">" : "<tr>");
      Html.cell(out, Format.whole(line.step()));
      Html.cell(out, Format.whole(line.epoch() + 1));
      Html.cell(out, Format.fixed(scaled(line), 4));
      Html.cell(out, Format.fixed(line.loss(), 4));
      line.values()
          .ifPresent(of -> {
            Html.cell(out, Format.fixed(of.mse(), 4));
            Html.cell(out, Format.fixed(of.mae(), 4));
          });
      Html.cell(out, Format.fixed(line.calibration(), 3));
      Html.cell(out, Format.fixed(line.calibrationError(), 4));
      Html.cell(out, Format.rate(line.samplesPerSecond()));
      Html.cell(out, Format.time(line.seconds()));
      List<MetricsLine.Task> own = line.tasks();
      for (MetricsLine.Task task : own.subList(Math.min(1, own.size()), own.size())) {
        Html.cell(out, Format.fixed(scaled(task), 4));
        Html.cell(out, Format.fixed(task.loss(), 4));
      }
      out.append("</tr>\n");
    }
    out.append("</tbody></table></div></section>\n");
  }

  private void facts(StringBuilder out) {
    out.append("<section><h2>Run</h2><div class=\"scroll\"><table class=\"facts\"><tbody>\n");
    fact(out, "Model", config.modelSummary());
    fact(out, "Data", config.data().summary());
    fact(out, "Training", config.train().summary());
    fact(out, "Folder", config.run().dir().toString());
    fact(out, "Processor", machine.processor());
    fact(out, "Main memory", Format.bytes(machine.memory()));
    fact(out, "System", machine.system());
    fact(out, "Java", machine.java());
    out.append("</tbody></table></div></section>\n");
  }

  private static void fact(StringBuilder out, String name, String value) {
    out.append("<tr><th>")
        .append(Html.text(name))
        .append("</th><td>")
        .append(Html.text(value))
        .append("</td></tr>\n");
  }

  private static double median(List<MetricsLine> lines, ToDoubleFunction<MetricsLine> value) {
    double[] sorted = lines.stream().mapToDouble(value).filter(Double::isFinite).sorted().toArray();
    return sorted.length == 0 ? Double.NaN : sorted[sorted.length / 2];
  }

  static String style() {
    return Html.resource(Report.class, "report.css");
  }
}
