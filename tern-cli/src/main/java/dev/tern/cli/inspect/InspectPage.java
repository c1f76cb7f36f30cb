package dev.tern.cli.inspect;

import dev.tern.cli.run.Bars;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.Html;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The page about data: label rates by value, and how the columns of other rows differ.
 *
 * @param rates by value, if they are asked for
 * @param drift beside other rows, if there are some
 * @param name of the files
 */
record InspectPage(Optional<LabelRates> rates, Optional<Drift> drift, String name) {
  /** Columns with a picture of their own. */
  private static final int MOST = 24;

  /** Bins of a picture. */
  private static final int BINS = 14;

  String html(long rows) {
    StringBuilder out = new StringBuilder();
    drift.ifPresent(of -> drift(out, of));
    rates.ifPresent(of -> rates(out, of));
    String note =
        Format.whole(rows)
            + " rows"
            + drift.map(of -> " beside " + Format.whole(of.now().rows()) + " others").orElse("");
    return Html.page("Data", name, note, Bars.style(), out.toString());
  }

  private static void drift(StringBuilder out, Drift drift) {
    List<ColumnDrift> columns = drift.columns();
    List<Bars.Bar> bars = new ArrayList<>();
    for (ColumnDrift column : columns) {
      if (Double.isFinite(column.psi())) {
        bars.add(Bars.Bar.of(column.name(), column.psi()));
      }
    }
    Bars.Legend index =
        new Bars.Legend("below 0.1 is usual, above 0.25 another population", "", "");
    out.append("<section><h2>Drift</h2>\n")
        .append(new Bars("PSI of each column", "PSI", index, 4, bars).html())
        .append("</section>\n");
    table(out, columns);
    out.append("<section><h2>Distributions</h2>\n<div class=\"charts\">\n");
    Bars.Legend both = new Bars.Legend("at first", "", "now");
    for (ColumnDrift column : columns.subList(0, Math.min(MOST, columns.size()))) {
      List<Bars.Bar> shares = new ArrayList<>();
      for (ColumnDrift.Bin bin : column.largest(BINS)) {
        shares.add(
            Bars.Bar.of(
                bin.shown(),
                100.0 * bin.before() / Math.max(1, column.before()),
                100.0 * bin.now() / Math.max(1, column.now())));
      }
      out.append(new Bars(column.name(), "percent of values", both, 1, shares).html());
    }
    out.append("</div></section>\n");
  }

  private static void table(StringBuilder out, List<ColumnDrift> columns) {
    out.append("<section><h2>Figures</h2><div class=\"scroll\"><table class=\"numbers named\">")
        .append("<thead><tr><th>column</th><th>kind</th><th>PSI</th><th>JS, bits</th>")
        .append("<th>unseen now</th></tr></thead><tbody>\n");
    for (ColumnDrift column : columns) {
      out.append("<tr>");
      Html.cell(out, column.name());
      Html.cell(out, column.kind());
      Html.cell(out, Format.fixed(column.psi(), 4));
      Html.cell(out, Format.fixed(column.jensenShannon(), 4));
      Html.cell(out, Drift.percent(column.unseen()));
      out.append("</tr>\n");
    }
    out.append("</tbody></table></div></section>\n");
  }

  private static void rates(StringBuilder out, LabelRates rates) {
    int slots = rates.profile().schema().slotCount();
    out.append("<section><h2>Values</h2>\n<div class=\"charts\">\n");
    Bars.Legend legend = new Bars.Legend(rates.label(), "95% interval", "");
    for (int slot = 0; slot < Math.min(MOST, slots) && rates.profile().hasLabel(); slot++) {
      List<Bars.Bar> bars = new ArrayList<>();
      for (LabelRates.Row row : rates.rows(slot)) {
        if (Double.isFinite(row.rate().mean())) {
          bars.add(Bars.Bar.of(row.shown() + " (" + Format.whole(row.count()) + ")", row.rate()));
        }
      }
      String name = rates.profile().schema().slots().get(slot).name();
      out.append(new Bars(name, rates.label(), legend, 3, bars).html());
    }
    out.append("</div></section>\n");
  }
}
