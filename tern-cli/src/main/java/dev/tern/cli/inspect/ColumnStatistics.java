package dev.tern.cli.inspect;

import dev.tern.base.Shown;
import dev.tern.cli.run.Format;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Statistics of columns for people to read. Not built for speed. */
public final class ColumnStatistics {
  private final Schema schema;
  private final Numbers[] labels;
  private final Numbers[] dense;
  private final Ids[] slots;
  private long rows;

  private ColumnStatistics(Schema schema) {
    this.schema = schema;
    labels = new Numbers[schema.labelDim()];
    dense = new Numbers[schema.denseDim()];
    slots = new Ids[schema.slotCount()];
    Arrays.setAll(labels, i -> new Numbers());
    Arrays.setAll(dense, i -> new Numbers());
    Arrays.setAll(slots, i -> new Ids(schema.slots().get(i)));
  }

  /** Statistics of all rows of {@code reader}. */
  public static ColumnStatistics of(DataReader reader) {
    ColumnStatistics statistics = new ColumnStatistics(reader.schema());
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        statistics.add(batch);
      }
    }
    return statistics;
  }

  private void add(Batch batch) {
    rows += batch.size();
    for (int i = 0; i < batch.size() * labels.length; i++) {
      labels[i % labels.length].add(batch.labels()[i]);
    }
    for (int i = 0; i < batch.size() * dense.length; i++) {
      dense[i % dense.length].add(batch.dense()[i]);
    }
    for (int s = 0; s < slots.length; s++) {
      slots[s].add(batch, s);
    }
  }

  /** Rows counted. */
  public long rows() {
    return rows;
  }

  /** Prints a table of each kind of column. */
  public void print(PrintWriter out) {
    numbers(out, "label", schema.labels(), labels);
    if (dense.length > 0) {
      numbers(out, "dense", schema.dense(), dense);
    }
    if (slots.length > 0) {
      out.printf(
          "%-24s %9s %6s %14s %10s %21s %21s%n",
          "sparse", "ids a row", "most", "distinct", "rows none", "least", "greatest");
      for (int s = 0; s < slots.length; s++) {
        slots[s].print(out, rows);
      }
    }
  }

  private static void numbers(PrintWriter out, String kind, List<String> names, Numbers[] columns) {
    out.printf("%-24s %12s %12s %12s %12s%n", kind, "mean", "least", "greatest", "missing");
    for (int i = 0; i < columns.length; i++) {
      columns[i].print(out, names.get(i));
    }
    out.println();
  }

  private static final class Numbers {
    private long count;
    private long missing;
    private double sum;
    private double least = Double.POSITIVE_INFINITY;
    private double greatest = Double.NEGATIVE_INFINITY;

    void add(float value) {
      if (Float.isNaN(value)) {
        missing++;
        return;
      }
      count++;
      sum += value;
      least = Math.min(least, value);
      greatest = Math.max(greatest, value);
    }

    void print(PrintWriter out, String name) {
      out.printf(
          "%-24s %12s %12s %12s %12s%n",
          Shown.excerpt(name),
          number(count == 0 ? Double.NaN : sum / count),
          number(least),
          number(greatest),
          Format.whole(missing));
    }

    private static String number(double value) {
      return Double.isFinite(value) ? String.format(Locale.ROOT, "%.6g", value) : "–";
    }
  }

  private static final class Ids {
    private final Slot slot;

    /** Added to ids, it makes signed comparison order them as the slot does. */
    private final long shift;

    private final DistinctCount distinct = new DistinctCount();
    private long most;
    private long without;
    private long count;
    private long least = Long.MAX_VALUE;
    private long greatest = Long.MIN_VALUE;

    Ids(Slot slot) {
      this.slot = slot;
      shift = slot.unsigned() ? Long.MIN_VALUE : 0;
    }

    void add(Batch batch, int slot) {
      long[] ids = batch.ids(slot);
      int end = batch.idCount(slot);
      for (int i = 0; i < end; i++) {
        least = Math.min(least, ids[i] + shift);
        greatest = Math.max(greatest, ids[i] + shift);
        distinct.add(ids[i]);
      }
      int[] offsets = batch.offsets(slot);
      for (int row = 0; row < batch.size(); row++) {
        most = Math.max(most, offsets[row + 1] - offsets[row]);
        without += offsets[row + 1] == offsets[row] ? 1 : 0;
      }
      count += end;
    }

    void print(PrintWriter out, long rows) {
      out.printf(
          "%-24s %9s %6s %14s %10s %21s %21s%n",
          Shown.excerpt(slot.name()),
          Format.fixed(rows == 0 ? Double.NaN : (double) count / rows, 2),
          Format.whole(most),
          (distinct.isExact() ? "" : "about ") + Format.whole(distinct.count()),
          Format.whole(without),
          count == 0 ? "–" : slot.text(least - shift),
          count == 0 ? "–" : slot.text(greatest - shift));
    }
  }
}
