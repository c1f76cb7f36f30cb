package dev.tern.spark;

import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Rows that Spark writes, and as what Tern reads their columns. Each has a column {@code row} that
 * tells its rows apart.
 *
 * @param rows makes the rows
 * @param conf settings of the session while it writes, each a name and a value
 * @param writer sets what the writer is to do
 * @param uses columns that are read
 */
record Frame(
    String name,
    Rows rows,
    List<String> conf,
    UnaryOperator<DataFrameWriter<Row>> writer,
    List<Use> uses) {

  /** What makes rows. */
  interface Rows {
    Dataset<Row> of(SparkSession spark);
  }

  /** What a column is to Tern. */
  enum As {
    NUMBER,
    VECTOR,
    ID,
    TEXT,
    IDS,
    TEXTS
  }

  record Use(String column, As as) {}

  /** Rows that a query gives. */
  static Frame of(String name, String query) {
    return new Frame(
        name, spark -> spark.sql(query), List.of(), UnaryOperator.identity(), List.of());
  }

  /** Rows of code. */
  static Frame of(String name, Rows rows) {
    return new Frame(name, rows, List.of(), UnaryOperator.identity(), List.of());
  }

  Frame as(As as, String... columns) {
    List<Use> more = new ArrayList<>(uses);
    for (String column : columns) {
      more.add(new Use(column, as));
    }
    return new Frame(name, rows, conf, writer, List.copyOf(more));
  }

  Frame numbers(String... columns) {
    return as(As.NUMBER, columns);
  }

  Frame ids(String... columns) {
    return as(As.ID, columns);
  }

  Frame texts(String... columns) {
    return as(As.TEXT, columns);
  }

  Frame conf(String key, String value) {
    List<String> more = new ArrayList<>(conf);
    more.add(key);
    more.add(value);
    return new Frame(name, rows, List.copyOf(more), writer, uses);
  }

  Frame written(UnaryOperator<DataFrameWriter<Row>> by) {
    return new Frame(name, rows, conf, w -> by.apply(writer.apply(w)), uses);
  }

  Frame option(String key, String value) {
    return written(w -> w.option(key, value));
  }

  /** This frame once for each way to read a column: a column has one meaning in a reader. */
  List<Frame> readings() {
    return uses.stream()
        .map(Use::as)
        .distinct()
        .map(as ->
            new Frame(name, rows, conf, writer, uses.stream().filter(u -> u.as() == as).toList()))
        .toList();
  }

  /** The columns to read: {@code row} as the first slot, no label. */
  Columns columns(String separator) {
    List<String> dense = new ArrayList<>();
    List<SparseColumn> sparse = new ArrayList<>(List.of(SparseColumn.id("row")));
    for (Use use : uses) {
      switch (use.as()) {
        case NUMBER, VECTOR -> dense.add(use.column());
        case ID -> sparse.add(SparseColumn.id(use.column()));
        case TEXT -> sparse.add(SparseColumn.text(use.column()));
        case IDS -> sparse.add(new SparseColumn(use.column(), false, separator));
        case TEXTS -> sparse.add(new SparseColumn(use.column(), true, separator));
      }
    }
    return new Columns(List.of(), Set.of(), dense, sparse);
  }

  @Override
  public String toString() {
    return name;
  }
}
