package dev.tern.cli.run;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What a training of days after each other found: how well each day was predicted before it was
 * trained on. {@code days.jsonl} has a line a day, {@code days.html} draws them.
 */
public final class DaysReport {
  private static final String LOG = "days.jsonl";

  private final Path folder;
  private final List<Day> days;

  /**
   * One day.
   *
   * @param name of its data
   * @param loss mean log loss of the first task by the model of the days before; NaN on the first
   *     day, as the other figures
   * @param auc area under the ROC curve
   * @param calibration mean prediction over mean label
   * @param ece expected calibration error; NaN also where the task predicts values, and of days
   *     that an earlier version tested
   */
  public record Day(String name, double loss, double auc, double calibration, double ece) {
    /** The first day, which no model has seen. */
    public static Day first(String name) {
      return new Day(name, Double.NaN, Double.NaN, Double.NaN, Double.NaN);
    }

    private String toJson() {
      return Json.object()
          .put("day", name)
          .put("loss", orNull(loss))
          .put("auc", orNull(auc))
          .put("calibration", orNull(calibration))
          .put("ece", orNull(ece))
          .toString();
    }

    private static Json orNull(double value) {
      return Double.isFinite(value) ? new Json.Real(value) : Json.Null.NULL;
    }

    private static Day parse(String line, Path file) {
      Json.Obj json = Json.parseObject(line, file.toString());
      return new Day(
          json.text("day"),
          number(json, "loss"),
          number(json, "auc"),
          number(json, "calibration"),
          json.has("ece") ? number(json, "ece") : Double.NaN);
    }

    private static double number(Json.Obj json, String key) {
      return json.get(key) == Json.Null.NULL ? Double.NaN : json.number(key);
    }
  }

  private DaysReport(Path folder, List<Day> days) {
    this.folder = folder;
    this.days = days;
  }

  /** No days so far. */
  public static DaysReport begin(Path folder) {
    return new DaysReport(folder, new ArrayList<>());
  }

  /** The days that a training in {@code folder} has done; none where it has not begun. */
  public static DaysReport read(Path folder) {
    Path file = folder.resolve(LOG);
    List<Day> days = new ArrayList<>();
    if (Files.exists(file)) {
      try {
        for (String line : Files.readAllLines(file)) {
          days.add(Day.parse(line, file));
        }
      } catch (IOException e) {
        throw new RunException(file + ": cannot be read (" + DataException.reason(e) + ")", e);
      }
    }
    return new DaysReport(folder, days);
  }

  /** The days done, in order. */
  public List<Day> days() {
    return List.copyOf(days);
  }

  /** Adds a day that was trained on, and writes both files. */
  public void add(Day day) {
    days.add(day);
    StringBuilder lines = new StringBuilder();
    days.forEach(each -> lines.append(each.toJson()).append('\n'));
    RunFolder.write(folder.resolve("days.html"), html());
    RunFolder.write(folder.resolve(LOG), lines.toString());
  }

  private String html() {
    StringBuilder out = new StringBuilder();
    out.append("<section class=\"charts\">\n");
    out.append(chart("AUC", "area under the ROC curve", 4, Day::auc));
    out.append(chart("Log loss", "nats per row", 4, Day::loss));
    out.append(chart("Calibration", "mean prediction over mean label", 3, Day::calibration));
    out.append(chart("ECE", "expected calibration error", 4, Day::ece));
    out.append("</section>\n<section><h2>Days</h2>\n<table><thead><tr><th>day</th>")
        .append(
            "<th>AUC</th><th>log loss</th><th>calibration</th><th>ECE</th></tr></thead>\n"
                + "<tbody>\n");
    for (Day day : days) {
      out.append("<tr>");
      Html.cell(out, day.name());
      Html.cell(out, Format.fixed(day.auc(), 4));
      Html.cell(out, Format.fixed(day.loss(), 4));
      Html.cell(out, Format.fixed(day.calibration(), 3));
      Html.cell(out, Format.fixed(day.ece(), 4));
      out.append("</tr>\n");
    }
    out.append("</tbody></table></section>\n");
    return Html.page(
        "Days",
        String.valueOf(folder.getFileName()),
        "each day predicted by the model of the days before",
        "",
        out.toString());
  }

  private String chart(String title, String unit, int decimals, ToDoubleFunction<Day> value) {
    List<Chart.Point> points =
        IntStream.range(0, days.size())
            .filter(day -> Double.isFinite(value.applyAsDouble(days.get(day))))
            .mapToObj(day -> new Chart.Point(day + 1L, value.applyAsDouble(days.get(day))))
            .toList();
    List<Chart.Series> curve = List.of(new Chart.Series("", "eval", true, points));
    return new Chart(title, unit, decimals, false, curve, List.of(), List.of()).html("day");
  }
}
