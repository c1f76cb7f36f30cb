package dev.tern.cli.run;

import dev.tern.metrics.RetrievalMetrics;
import java.util.List;
import java.util.Optional;

/** A report's section on what two towers find: a line for each evaluation. */
final class RetrievalSection {
  private static final int MAX_EVALUATIONS = 100;

  private RetrievalSection() {}

  /** The section as HTML; empty where no evaluation looks for items. */
  static String of(List<MetricsLine> evaluations) {
    List<MetricsLine> all =
        evaluations.stream().filter(line -> retrieval(line).isPresent()).toList();
    if (all.isEmpty()) {
      return "";
    }
    int at = retrieval(all.getLast()).orElseThrow().at();
    StringBuilder out = new StringBuilder();
    out.append(
            "<section><h2>Items found</h2><div class=\"scroll\"><table class=\"numbers\"><thead>")
        .append("<tr><th>step</th><th>items compared</th><th>rows labelled 1</th><th>recall@")
        .append(at)
        .append("</th></tr></thead><tbody>\n");
    for (MetricsLine line : all.subList(Math.max(0, all.size() - MAX_EVALUATIONS), all.size())) {
      RetrievalMetrics.Result found = retrieval(line).orElseThrow();
      out.append("<tr>");
      Html.cell(out, Format.whole(line.step()));
      Html.cell(out, Format.whole(found.candidates()));
      Html.cell(out, Format.whole(found.rows()));
      Html.cell(out, Format.fixed(found.recall(), 4));
      out.append("</tr>\n");
    }
    return out.append("</tbody></table></div></section>\n").toString();
  }

  private static Optional<RetrievalMetrics.Result> retrieval(MetricsLine line) {
    return line.evaluated().stream().findFirst().flatMap(EvaluatedTask::retrieval);
  }
}
