package dev.tern.cli.inspect;

import dev.tern.base.Shown;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.Spread;
import dev.tern.internal.json.Json;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * The most frequent values of each sparse column, with the label rate of their rows.
 *
 * @param top values of a column
 */
record LabelRates(Profile profile, int top) {
  /**
   * A value of a column.
   *
   * @param count its occurrences
   * @param rate the mean first label of their rows; NaN where that is not known
   */
  record Row(ColumnDrift.Kind kind, String value, long count, Spread rate) {
    /** Its name beside those of other rows. */
    String shown() {
      return new ColumnDrift.Bin(kind, value, count, count).shown();
    }
  }

  /** The values of a slot, then all others, then rows without a value. */
  List<Row> rows(int slot) {
    ValueRates rates = profile.slot(slot);
    List<Row> rows = new ArrayList<>();
    long shown = 0;
    for (ValueRates.Value value : rates.top(top)) {
      rows.add(row(ColumnDrift.Kind.VALUE, profile.text(slot, value.id()), value.tally()));
      shown += value.tally().count();
    }
    long left = rates.ids() - shown;
    if (left > 0) {
      long others = (long) rates.distinct() - rows.size();
      String values =
          !rates.isWhole()
              ? "all other values"
              : others == 1 ? "1 other value" : Format.whole(others) + " other values";
      Spread unknown = new Spread(Double.NaN, Double.NaN, Double.NaN);
      rows.add(new Row(ColumnDrift.Kind.OTHERS, values, left, unknown));
    }
    if (rates.none().count() > 0) {
      rows.add(row(ColumnDrift.Kind.MISSING, "missing", rates.none()));
    }
    return rows;
  }

  private Row row(ColumnDrift.Kind kind, String value, ValueRates.Tally tally) {
    return new Row(kind, value, tally.count(), tally.rate(profile.isBinary()));
  }

  /** What the rates are of. */
  String label() {
    String name = profile.hasLabel() ? profile.schema().labels().getFirst() : "label";
    return (profile.isBinary() ? "rate of " : "mean ") + name;
  }

  /** Prints a table for each sparse column. */
  void print(PrintWriter out) {
    for (int slot = 0; slot < profile.schema().slotCount(); slot++) {
      out.printf(
          "%n%-32s %12s  %s%n",
          Shown.excerpt(profile.schema().slots().get(slot).name()),
          "count",
          profile.hasLabel() ? label() + ", 95% interval" : "");
      for (Row row : rows(slot)) {
        boolean rated = Double.isFinite(row.rate().mean());
        out.println(
            "  %-30s %12s  %s"
                .formatted(
                    row.shown(),
                    Format.whole(row.count()),
                    rated ? Format.fixed(row.rate().mean(), 4) + ", " + row.rate().interval(4) : "")
                .stripTrailing());
      }
    }
  }

  /** Prints a line of JSON for each value. */
  void printJson(PrintWriter out) {
    for (int slot = 0; slot < profile.schema().slotCount(); slot++) {
      for (Row row : rows(slot)) {
        out.println(
            Json.object()
                .put("column", profile.schema().slots().get(slot).name())
                .put("value", row.value())
                .put("kind", row.kind().toString())
                .put("count", row.count())
                .put("rate", Drift.real(row.rate().mean()))
                .put("low", Drift.real(row.rate().low()))
                .put("high", Drift.real(row.rate().high())));
      }
    }
  }
}
