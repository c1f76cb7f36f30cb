package dev.tern.cli.run;

import dev.tern.metrics.GroupMetrics;
import java.util.List;

/** A report's section on figures by group: a line for each evaluation and task. */
final class GroupsSection {
  private static final int MAX_EVALUATIONS = 100;

  private GroupsSection() {}

  /** The section as HTML; empty where no evaluation has groups. */
  static String of(List<MetricsLine> evaluations) {
    List<MetricsLine> all =
        evaluations.stream()
            .filter(line -> line.evaluated().stream().anyMatch(task -> task.groups().isPresent()))
            .toList();
    if (all.isEmpty()) {
      return "";
    }
    EvaluatedTask.Groups last = all.getLast().evaluated().getFirst().groups().orElseThrow();
    StringBuilder out = new StringBuilder();
    out.append("<section><h2>Figures by ")
        .append(Html.text(last.column()))
        .append("</h2><div class=\"scroll\"><table class=\"numbers\"><thead><tr><th>step</th>")
        .append("<th>label</th><th>groups</th><th>with both labels</th><th>GAUC by rows</th>")
        .append("<th>by positives</th><th>by groups</th>");
    for (String name : List.of("NDCG@", "recall@", "hit rate@")) {
      out.append("<th>").append(name).append(last.at()).append("</th>");
    }
    out.append("<th>MRR</th></tr></thead><tbody>\n");
    for (MetricsLine line : all.subList(Math.max(0, all.size() - MAX_EVALUATIONS), all.size())) {
      for (EvaluatedTask task : line.evaluated()) {
        task.groups().ifPresent(groups -> row(out, line.step(), task.name(), groups.figures()));
      }
    }
    return out.append("</tbody></table></div></section>\n").toString();
  }

  private static void row(StringBuilder out, long step, String label, GroupMetrics.Result figures) {
    out.append("<tr>");
    Html.cell(out, Format.whole(step));
    Html.cell(out, label);
    Html.cell(out, Format.whole(figures.counts().groups()));
    Html.cell(out, Format.whole(figures.counts().mixed()));
    Html.cell(out, Format.fixed(figures.auc().byRows(), 4));
    Html.cell(out, Format.fixed(figures.auc().byPositives(), 4));
    Html.cell(out, Format.fixed(figures.auc().byGroups(), 4));
    Html.cell(out, Format.fixed(figures.order().ndcg(), 4));
    Html.cell(out, Format.fixed(figures.order().recall(), 4));
    Html.cell(out, Format.fixed(figures.order().hitRate(), 4));
    Html.cell(out, Format.fixed(figures.order().reciprocalRank(), 4));
    out.append("</tr>\n");
  }
}
