package dev.tern.cli.run;

import dev.tern.data.encode.ColumnCounts;
import java.util.List;

/** A report's section on missing and unknown values in the last evaluation. */
final class ColumnsSection {
  private ColumnsSection() {}

  /** The section as HTML; empty where no value is missing or unknown. */
  static String of(List<MetricsLine> lines) {
    List<ColumnCounts.Column> columns =
        lines.reversed().stream()
            .filter(line -> line.split() == MetricsLine.Split.EVAL)
            .findFirst()
            .map(MetricsLine::columns)
            .orElse(List.of());
    if (columns.isEmpty()) {
      return "";
    }
    StringBuilder out = new StringBuilder();
    out.append("<section><h2>Missing and unknown values in evaluation</h2>")
        .append("<div class=\"scroll\"><table class=\"numbers\"><thead><tr><th>column</th>")
        .append("<th>rows</th><th>without a value</th><th>share</th><th>values</th>")
        .append("<th>unknown</th><th>share</th></tr></thead><tbody>\n");
    for (ColumnCounts.Column column : columns) {
      out.append("<tr>");
      Html.cell(out, column.name());
      Html.cell(out, Format.whole(column.rows()));
      Html.cell(out, Format.whole(column.missing()));
      Html.cell(out, share(column.missing(), column.rows()));
      Html.cell(out, Format.whole(column.values()));
      Html.cell(out, Format.whole(column.unknown()));
      Html.cell(out, share(column.unknown(), column.values()));
      out.append("</tr>\n");
    }
    return out.append("</tbody></table></div></section>\n").toString();
  }

  private static String share(long part, long all) {
    return all == 0 ? "–" : Format.fixed(100.0 * part / all, 2) + "%";
  }
}
