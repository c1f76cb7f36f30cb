package dev.tern.serve.http.metrics;

import dev.tern.data.encode.ColumnCounts;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * Values of columns in requests that are missing, or that the model does not know. Of one request
 * in 16, as to look at all would cost up to a tenth of scoring them; shares are what matters.
 */
final class ColumnWatch {
  /** Of so many requests one is looked at: the first, then every so many-th. */
  static final int EVERY = 16;

  /** Columns that have counters of their own, those that came first. */
  static final int MOST_COLUMNS = 200;

  private static final ColumnCounts.Column NAMELESS = new ColumnCounts.Column("", 1, 0, 1, 0);

  private final AtomicLong requests = new AtomicLong();
  private final LongAdder rows = new LongAdder();
  private final Map<String, Counts> byColumn = new ConcurrentHashMap<>();

  private record Counts(LongAdder missing, LongAdder values, LongAdder unknown) {
    Counts() {
      this(new LongAdder(), new LongAdder(), new LongAdder());
    }
  }

  /** Whether the request at hand is one to look at. */
  boolean isTurn() {
    return requests.getAndIncrement() % EVERY == 0;
  }

  /** Adds the rows of a request. */
  void add(ColumnCounts counts) {
    rows.add(counts.rows());
    counts.columns().forEach(this::add);
  }

  private void add(ColumnCounts.Column column) {
    Counts own = byColumn.get(column.name());
    if (own == null && byColumn.size() < MOST_COLUMNS) {
      own = byColumn.computeIfAbsent(column.name(), _ -> new Counts());
    }
    if (own != null) {
      own.missing.add(column.missing());
      own.values.add(column.values());
      own.unknown.add(column.unknown());
    }
  }

  /** Counts a column that is new and one that is not, so that the JIT has seen both. */
  void rehearse() {
    add(NAMELESS);
    add(NAMELESS);
    byColumn.remove(NAMELESS.name());
  }

  void writeRows(Exposition page, String family, String label) {
    page.line(family, label, rows.sum());
  }

  void writeMissing(Exposition page, String family, String label) {
    write(page, family, label, Counts::missing);
  }

  void writeValues(Exposition page, String family, String label) {
    write(page, family, label, Counts::values);
  }

  void writeUnknown(Exposition page, String family, String label) {
    write(page, family, label, Counts::unknown);
  }

  private void write(Exposition page, String family, String label, Function<Counts, LongAdder> of) {
    byColumn.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(each ->
            page.line(
                family,
                label + "," + Exposition.label("column", each.getKey()),
                of.apply(each.getValue()).sum()));
  }
}
