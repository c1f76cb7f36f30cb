package dev.tern.cli.inspect;

import dev.tern.base.Shown;
import dev.tern.cli.run.Format;
import dev.tern.internal.json.Json;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How the columns of other rows differ from those of first ones.
 *
 * @param before rows at first
 * @param now rows of now
 * @param columns the columns that differ most first
 */
record Drift(Profile before, Profile now, List<ColumnDrift> columns) {
  /** Bins of numbers: tenths of the first rows. */
  private static final int TENTHS = 10;

  /**
   * The most frequent values of a slot, at first and now, have a bin each; all others share one.
   */
  private static final int VALUES = 50;

  /** Compares rows of the same columns. */
  static Drift of(Profile before, Profile now) {
    List<ColumnDrift> columns = new ArrayList<>();
    for (int i = 0; i < before.schema().labelDim(); i++) {
      String name = before.schema().labels().get(i);
      columns.add(ofNumbers(name, "label", before.label(i), now.label(i)));
    }
    for (int i = 0; i < before.schema().denseDim(); i++) {
      String name = before.schema().dense().get(i);
      columns.add(ofNumbers(name, "dense", before.number(i), now.number(i)));
    }
    for (int s = 0; s < before.schema().slotCount(); s++) {
      columns.add(ofIds(before, now, s));
    }
    Comparator<ColumnDrift> order =
        Comparator.comparingDouble(column -> Double.isNaN(column.psi()) ? 0 : -column.psi());
    return new Drift(before, now, columns.stream().sorted(order).toList());
  }

  private static ColumnDrift ofNumbers(
      String name, String kind, ThinnedValues before, ThinnedValues now) {
    float[] first = before.sorted();
    float[] edges = edges(first);
    long[] were = counts(first, edges, before.count());
    long[] are = counts(now.sorted(), edges, now.count());
    List<ColumnDrift.Bin> bins = new ArrayList<>();
    for (int bin = 0; bin <= edges.length; bin++) {
      bins.add(new ColumnDrift.Bin(ColumnDrift.Kind.RANGE, range(edges, bin), were[bin], are[bin]));
    }
    bins.add(ColumnDrift.Bin.of(ColumnDrift.Kind.MISSING, before.missing(), now.missing()));
    bins.removeIf(bin -> bin.before() == 0 && bin.now() == 0);
    return new ColumnDrift(name, kind, bins, now.outside(before.least(), before.greatest()));
  }

  /** Different numbers that cut {@code sorted} into tenths; each begins a bin. */
  private static float[] edges(float[] sorted) {
    float[] edges = new float[TENTHS - 1];
    int count = 0;
    for (int i = 1; i < TENTHS && sorted.length > 0; i++) {
      float edge = sorted[(int) ((long) i * sorted.length / TENTHS)];
      if (edge > sorted[0] && (count == 0 || edge > edges[count - 1])) {
        edges[count++] = edge;
      }
    }
    return Arrays.copyOf(edges, count);
  }

  /** How many of {@code all} numbers are in each bin, by the share of a sample. */
  private static long[] counts(float[] sorted, float[] edges, long all) {
    long[] counts = new long[edges.length + 1];
    int from = 0;
    long given = 0;
    for (int bin = 0; bin <= edges.length; bin++) {
      int to = bin == edges.length ? sorted.length : below(sorted, edges[bin]);
      long upTo = sorted.length == 0 ? 0 : Math.round((double) to / sorted.length * all);
      counts[bin] = to == from ? 0 : upTo - given;
      given = to == from ? given : upTo;
      from = to;
    }
    return counts;
  }

  /** How many are below {@code edge}. */
  private static int below(float[] sorted, float edge) {
    int low = 0;
    int high = sorted.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (sorted[middle] < edge) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private static String range(float[] edges, int bin) {
    if (edges.length == 0) {
      return "all";
    }
    return bin == 0
        ? "below " + number(edges[0])
        : bin == edges.length
            ? number(edges[bin - 1]) + " and above"
            : number(edges[bin - 1]) + " to " + number(edges[bin]);
  }

  private static String number(float value) {
    boolean whole = value == Math.rint(value) && Math.abs(value) < 1e7;
    return whole ? Long.toString((long) value) : String.format(Locale.ROOT, "%.4g", value);
  }

  private static ColumnDrift ofIds(Profile first, Profile later, int slot) {
    ValueRates before = first.slot(slot);
    ValueRates now = later.slot(slot);
    List<ColumnDrift.Bin> bins = new ArrayList<>();
    long restBefore = before.ids();
    long restNow = now.ids();
    Set<Long> shown = new LinkedHashSet<>();
    Stream.of(before, now).forEach(rates -> rates.top(VALUES).forEach(v -> shown.add(v.id())));
    for (long id : shown) {
      bins.add(
          new ColumnDrift.Bin(
              ColumnDrift.Kind.VALUE, first.text(slot, id), before.count(id), now.count(id)));
      restBefore -= before.count(id);
      restNow -= now.count(id);
    }
    bins.add(ColumnDrift.Bin.of(ColumnDrift.Kind.OTHERS, restBefore, restNow));
    bins.add(
        ColumnDrift.Bin.of(ColumnDrift.Kind.MISSING, before.none().count(), now.none().count()));
    bins.removeIf(bin -> bin.before() == 0 && bin.now() == 0);
    boolean known = before.isWhole() && now.isWhole() && now.ids() > 0;
    double unseen = known ? (double) now.unknownTo(before) / now.ids() : Double.NaN;
    return new ColumnDrift(first.schema().slots().get(slot).name(), "sparse", bins, unseen);
  }

  /** Prints a table, the columns that differ most first. */
  void print(PrintWriter out) {
    out.printf(
        "%s rows beside %s rows at first:%n%n%-24s %-7s %9s %9s %9s %20s%n",
        Format.whole(now.rows()),
        Format.whole(before.rows()),
        "drift",
        "kind",
        "PSI",
        "JS",
        "unseen",
        "missing");
    for (ColumnDrift column : columns) {
      out.printf(
          "%-24s %-7s %9s %9s %9s %20s%n",
          Shown.excerpt(column.name()),
          column.kind(),
          Format.fixed(column.psi(), 4),
          Format.fixed(column.jensenShannon(), 4),
          percent(column.unseen()),
          missing(column));
    }
  }

  static String percent(double share) {
    return Double.isNaN(share) ? "–" : Format.fixed(100 * share, 2) + "%";
  }

  private static String missing(ColumnDrift column) {
    return column.bins().stream()
        .filter(bin -> bin.kind() == ColumnDrift.Kind.MISSING)
        .findFirst()
        .map(bin ->
            percent((double) bin.before() / column.before())
                + " to "
                + percent((double) bin.now() / column.now()))
        .orElse("none");
  }

  /** Prints a line of JSON for each column. */
  void printJson(PrintWriter out) {
    for (ColumnDrift column : columns) {
      List<Json> bins = new ArrayList<>();
      for (ColumnDrift.Bin bin : column.bins()) {
        bins.add(
            Json.object()
                .put("bin", bin.name())
                .put("kind", bin.kind().toString())
                .put("before", bin.before())
                .put("now", bin.now()));
      }
      out.println(
          Json.object()
              .put("column", column.name())
              .put("kind", column.kind())
              .put("psi", real(column.psi()))
              .put("js", real(column.jensenShannon()))
              .put("unseen", real(column.unseen()))
              .put("bins", new Json.Arr(bins)));
    }
  }

  static Json real(double value) {
    return Double.isFinite(value) ? new Json.Real(value) : Json.Null.NULL;
  }
}
