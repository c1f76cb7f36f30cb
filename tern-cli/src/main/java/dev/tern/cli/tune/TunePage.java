package dev.tern.cli.tune;

import dev.tern.cli.run.Chart;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.Html;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The page about a search: values beside what they reached, the best so far, all trials. */
record TunePage(Plan plan, TuneFile file, Path folder) {
  String html() {
    StringBuilder out = new StringBuilder();
    List<Trial> sorted = file.sorted();
    if (!sorted.isEmpty()) {
      Goal by = file.figure().orElseThrow();
      out.append("<section>\n")
          .append(new Coordinates(plan.searches(), by, sorted).html())
          .append("</section>\n<section>\n")
          .append(curve(by, Coordinates.better(sorted)))
          .append("</section>\n");
    }
    table(out, sorted);
    sorted.stream()
        .findFirst()
        .ifPresent(best ->
            out.append("<section><details open><summary>The best again</summary><pre>")
                .append(Html.text(plan.command(best, folder)))
                .append("</pre></details></section>\n"));
    return Html.page(
        "Search",
        String.valueOf(folder.getFileName()),
        note(sorted),
        Html.resource(TunePage.class, "tune.css"),
        out.toString());
  }

  private String note(List<Trial> sorted) {
    long failed = file.trials().stream().filter(trial -> trial.failure().isPresent()).count();
    return sorted.size()
        + " of "
        + file.trials().size()
        + " trials"
        + (failed > 0 ? ", " + failed + " failed" : "")
        + (plan.halving() ? ", by successive halving" : "");
  }

  private String curve(Goal by, List<Trial> better) {
    List<Chart.Point> each = new ArrayList<>();
    List<Chart.Point> best = new ArrayList<>();
    double top = Double.NaN;
    for (Trial trial : file.trials()) {
      double value = trial.value();
      if (better.contains(trial)) {
        each.add(new Chart.Point(trial.number(), value));
      }
      if (!Double.isNaN(value)) {
        top = by.isBetter(value, top) ? value : top;
        best.add(new Chart.Point(trial.number(), top));
      }
    }
    String shown = each.size() == best.size() ? "each trial" : "better three quarters of trials";
    // The first best may be worse than all that is shown.
    best.removeIf(point -> better.stream().noneMatch(t -> t.value() == point.value()));
    List<Chart.Series> curves =
        List.of(
            new Chart.Series(shown, "t8", true, each),
            new Chart.Series("best so far", "eval", false, best));
    return new Chart("Best so far", by.name(), 5, false, curves, List.of(), List.of())
        .html("trial");
  }

  private void table(StringBuilder out, List<Trial> sorted) {
    out.append("<section><h2>Trials</h2><div class=\"scroll\"><table class=\"numbers\">")
        .append("<thead><tr><th>trial</th><th>")
        .append(Html.text(file.figure().map(Goal::name).orElse("figure")))
        .append("</th><th>epochs</th><th>step</th><th>time</th>");
    for (Search search : plan.searches()) {
      out.append("<th>").append(Html.text(search.key())).append("</th>");
    }
    out.append("</tr></thead><tbody>\n");
    for (int i = 0; i < sorted.size(); i++) {
      row(out, sorted.get(i), i == 0);
    }
    for (Trial trial : file.trials()) {
      if (Double.isNaN(trial.value())) {
        row(out, trial, false);
      }
    }
    out.append("</tbody></table></div></section>\n");
  }

  private void row(StringBuilder out, Trial trial, boolean best) {
    out.append(best ? "<tr class=\"best\">" : "<tr>");
    Html.cell(out, Integer.toString(trial.number()));
    if (trial.last().isPresent()) {
      Trial.Round last = trial.last().get();
      Html.cell(out, Format.fixed(last.value(), 5));
      Html.cell(out, Format.whole(last.epochs()));
      Html.cell(out, Format.whole(last.step()));
      Html.cell(out, Format.time(last.seconds()));
    } else {
      out.append("<td class=\"why\" colspan=\"4\">")
          .append(Html.text(trial.failure().map(why -> "failed: " + why).orElse(trial.state())))
          .append("</td>");
    }
    for (Search search : plan.searches()) {
      Html.cell(out, trial.values().getOrDefault(search.key(), ""));
    }
    out.append("</tr>\n");
  }
}
