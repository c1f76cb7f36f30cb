package dev.tern.cli.understand;

import dev.tern.cli.run.Bars;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.Html;
import dev.tern.cli.run.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The page about what each column means to a model.
 *
 * @param name of the model and the rows
 */
record ImportancePage(Measured measured, String name) {
  String html() {
    StringBuilder out = new StringBuilder();
    for (int task = 0; task < measured.base().size(); task++) {
      task(out, task);
    }
    out.append("<section><p class=\"remark\">")
        .append("What a column says that others say too is missed little when it alone is shuffled")
        .append(
            ": such columns look unimportant one by one. Shuffle them as one by"
                + " <code>--together</code>.")
        .append("</p></section>\n");
    String note =
        "%s rows%s, each column shuffled %d times"
            .formatted(
                Format.whole(measured.rows()),
                measured.rows() == measured.seen()
                    ? ""
                    : ", a sample of " + Format.whole(measured.seen()),
                measured.repeats());
    return Html.page("Importance of columns", name, note, Bars.style(), out.toString());
  }

  private void task(StringBuilder out, int task) {
    Importance.Figures base = measured.base().get(task);
    List<Importance.Column> sorted = measured.sorted(task);
    out.append("<section><h2>").append(Html.text(base.task())).append("</h2>\n");
    out.append("<div class=\"charts\">\n");
    Bars.Legend legend =
        new Bars.Legend("mean", "95% interval of " + measured.repeats() + " shuffles", "");
    if (measured.hasAuc(task)) {
      String title = "AUC lost, of " + Measured.number(base.auc());
      List<Bars.Bar> bars = bars(sorted, task, Importance.Lost::auc);
      out.append(new Bars(title, "AUC", legend, Measured.DECIMALS, bars).html());
    }
    if (measured.hasLoss(task)) {
      String title = "Loss gained, on " + Measured.number(base.loss());
      List<Bars.Bar> bars = bars(sorted, task, Importance.Lost::loss);
      out.append(new Bars(title, "mean per row", legend, Measured.DECIMALS, bars).html());
    }
    out.append("</div>\n</section>\n");
    table(out, task, sorted);
  }

  private static List<Bars.Bar> bars(
      List<Importance.Column> columns, int task, Function<Importance.Lost, Spread> of) {
    List<Bars.Bar> bars = new ArrayList<>();
    for (Importance.Column column : columns) {
      bars.add(Bars.Bar.of(column.part().name(), of.apply(column.tasks().get(task))));
    }
    return bars;
  }

  private void table(StringBuilder out, int task, List<Importance.Column> columns) {
    out.append("<section><h2>Figures of ")
        .append(Html.text(measured.base().get(task).task()))
        .append("</h2><div class=\"scroll\"><table class=\"numbers named\"><thead><tr>")
        .append("<th>column</th>");
    if (measured.hasAuc(task)) {
      out.append("<th>AUC lost</th><th>95% interval</th>");
    }
    if (measured.hasLoss(task)) {
      out.append("<th>loss gained</th><th>95% interval</th>");
    }
    out.append("</tr></thead><tbody>\n");
    for (Importance.Column column : columns) {
      out.append("<tr>");
      Html.cell(out, column.part().name());
      if (measured.hasAuc(task)) {
        cells(out, column.tasks().get(task).auc());
      }
      if (measured.hasLoss(task)) {
        cells(out, column.tasks().get(task).loss());
      }
      out.append("</tr>\n");
    }
    out.append("</tbody></table></div></section>\n");
  }

  private static void cells(StringBuilder out, Spread spread) {
    Html.cell(out, Measured.number(spread.mean()));
    Html.cell(out, Measured.interval(spread));
  }
}
