package dev.tern.cli.run;

import dev.tern.embedding.config.FileStatistics;
import dev.tern.embedding.config.TableStatistics;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleBiFunction;
import java.util.stream.IntStream;

/** A report's section on embedding tables: final numbers, and curves of the largest tables. */
final class TablesSection {
  /** Tables with a curve: as many as the style sheet has colours. */
  private static final int MAX_CURVES = 8;

  private static final TableStatistics NOTHING =
      new TableStatistics("", 0, 0, 0, Double.NaN, 0, 0, 0, 0, 0, 0, 0, FileStatistics.NONE);

  private TablesSection() {}

  /** A column of the table of tables. */
  private record Column(String name, Function<TableStatistics, String> value) {
    static Column whole(String name, Function<TableStatistics, Long> value) {
      return new Column(name, table -> Format.whole(value.apply(table)));
    }

    static Column bytes(String name, Function<TableStatistics, Long> value) {
      return new Column(name, table -> Format.bytes(value.apply(table)));
    }
  }

  /**
   * The section as HTML; empty where the last line names no table.
   *
   * @param marks steps of the ends of epochs
   */
  static String of(List<MetricsLine> lines, List<Long> marks) {
    List<TableStatistics> tables = lines.isEmpty() ? List.of() : lines.getLast().tables();
    if (tables.isEmpty()) {
      return "";
    }
    StringBuilder out = new StringBuilder();
    numbers(out, tables);
    out.append("<section class=\"charts\">\n");
    charts(lines, tables, marks).forEach(chart -> out.append(chart.html()));
    return out.append("</section>\n").toString();
  }

  private static void numbers(StringBuilder out, List<TableStatistics> tables) {
    List<Column> columns = columns(tables);
    out.append("<section><h2>Embedding tables</h2><div class=\"scroll\"><table")
        .append(" class=\"numbers\"><thead><tr>");
    for (Column column : columns) {
      out.append("<th>").append(column.name()).append("</th>");
    }
    out.append("</tr></thead><tbody>\n");
    for (TableStatistics table : tables) {
      out.append("<tr>");
      columns.forEach(column -> Html.cell(out, column.value().apply(table)));
      out.append("</tr>\n");
    }
    out.append("</tbody></table></div></section>\n");
  }

  /** The columns; without filters or files if no table has any. */
  private static List<Column> columns(List<TableStatistics> tables) {
    List<Column> columns = new ArrayList<>();
    columns.add(new Column("table", TableStatistics::table));
    columns.add(Column.whole("rows", TableStatistics::rows));
    columns.add(Column.bytes("memory", TableStatistics::bytes));
    columns.add(Column.bytes("index", TableStatistics::indexBytes));
    columns.add(new Column("probes", table -> Format.fixed(table.probes(), 3)));
    columns.add(Column.whole("hits", TableStatistics::hits));
    columns.add(new Column("hit rate", TablesSection::hitRate));
    columns.add(Column.whole("misses", TableStatistics::misses));
    columns.add(Column.whole("admitted", TableStatistics::admitted));
    columns.add(Column.whole("rejected", TableStatistics::rejected));
    columns.add(Column.whole("evicted", TableStatistics::evicted));
    if (tables.stream().anyMatch(table -> table.filterBytes() > 0)) {
      columns.add(Column.bytes("filter", TableStatistics::filterBytes));
      columns.add(new Column("shared counters", table -> Format.rate(table.sharedCounters())));
    }
    if (tables.stream().anyMatch(table -> table.file().bytes() > 0)) {
      columns.add(Column.bytes("file", table -> table.file().bytes()));
      columns.add(Column.whole("rows in file", table -> table.file().rows()));
      columns.add(Column.whole("spilled", table -> table.file().spilled()));
      columns.add(Column.whole("fetched", table -> table.file().fetched()));
      columns.add(Column.bytes("written", table -> table.file().bytesWritten()));
      columns.add(Column.bytes("read", table -> table.file().bytesRead()));
    }
    return columns;
  }

  private static String hitRate(TableStatistics table) {
    double rate = share(table.hits(), table.misses());
    return Double.isNaN(rate) ? Format.fixed(rate, 1) : Format.fixed(100 * rate, 1) + "%";
  }

  private static double share(long hits, long misses) {
    return hits / (double) (hits + misses);
  }

  private static List<Chart> charts(
      List<MetricsLine> lines, List<TableStatistics> tables, List<Long> marks) {
    List<String> names =
        tables.stream()
            .sorted(Comparator.comparingLong(TableStatistics::rows).reversed())
            .limit(MAX_CURVES)
            .map(TableStatistics::table)
            .toList();
    String which = tables.size() > names.size() ? " of the largest tables" : " of tables";
    return List.of(
        new Chart(
            "Rows" + which,
            "rows",
            0,
            true,
            curves(lines, names, (_, now) -> now.rows()),
            List.of(),
            marks),
        new Chart(
            "Hit rate" + which,
            "share of ids in training that had a row, since the point before",
            4,
            false,
            curves(lines, names, TablesSection::hitRateSince),
            List.of(),
            marks));
  }

  /** The share since an earlier line, or since the process began if that was later. */
  private static double hitRateSince(TableStatistics before, TableStatistics now) {
    boolean anew = now.hits() < before.hits() || now.misses() < before.misses();
    return anew
        ? share(now.hits(), now.misses())
        : share(now.hits() - before.hits(), now.misses() - before.misses());
  }

  /**
   * A curve for each name.
   *
   * @param value of a table as it was in the line before, at first {@link #NOTHING}, and as it is;
   *     NaN for no point
   */
  private static List<Chart.Series> curves(
      List<MetricsLine> lines,
      List<String> names,
      ToDoubleBiFunction<TableStatistics, TableStatistics> value) {
    return IntStream.range(0, names.size())
        .mapToObj(i -> {
          String name = names.get(i);
          return new Chart.Series(name, "t" + (i + 1), true, points(lines, name, value));
        })
        .toList();
  }

  private static List<Chart.Point> points(
      List<MetricsLine> lines,
      String name,
      ToDoubleBiFunction<TableStatistics, TableStatistics> value) {
    List<Chart.Point> points = new ArrayList<>();
    TableStatistics before = NOTHING;
    for (MetricsLine line : lines) {
      for (TableStatistics table : line.tables()) {
        if (table.table().equals(name)) {
          double y = value.applyAsDouble(before, table);
          if (!Double.isNaN(y)) {
            points.add(new Chart.Point(line.step(), y));
          }
          before = table;
        }
      }
    }
    return points;
  }
}
