package dev.tern.cli.understand;

import dev.tern.base.Shown;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.Spread;
import dev.tern.internal.json.Json;
import java.io.PrintWriter;
import java.util.Comparator;
import java.util.List;

/**
 * What shuffling each column costs, for people and programs.
 *
 * @param base figures of the rows as they are
 * @param columns what each column costs, in the order of the data
 * @param rows evaluated rows
 * @param seen rows of which they are a sample
 * @param repeats shuffles of each column
 */
record Measured(
    List<Importance.Figures> base,
    List<Importance.Column> columns,
    int rows,
    long seen,
    int repeats) {
  static final int DECIMALS = 5;

  /** Whether a task has an AUC, by which its columns are in order. */
  boolean hasAuc(int task) {
    return Double.isFinite(base.get(task).auc());
  }

  /** Whether a task has a loss. */
  boolean hasLoss(int task) {
    return Double.isFinite(base.get(task).loss());
  }

  /** The columns with the most important one first, by AUC where the task has one. */
  List<Importance.Column> sorted(int task) {
    Comparator<Importance.Column> order =
        Comparator.comparingDouble(column -> -first(column.tasks().get(task), task).mean());
    return columns.stream().sorted(order).toList();
  }

  private Spread first(Importance.Lost lost, int task) {
    return hasAuc(task) ? lost.auc() : lost.loss();
  }

  /** Prints a table for each task. */
  void print(PrintWriter out) {
    for (int task = 0; task < base.size(); task++) {
      Importance.Figures figures = base.get(task);
      out.printf(
          "%s%s: %s rows%s, each column shuffled %d times%n",
          task == 0 ? "" : System.lineSeparator(),
          Shown.excerpt(figures.task()),
          Format.whole(rows),
          (hasAuc(task) ? ", AUC " + Format.fixed(figures.auc(), DECIMALS) : "")
              + (hasLoss(task) ? ", loss " + Format.fixed(figures.loss(), DECIMALS) : ""),
          repeats);
      out.printf(
          "%-24s%s%s%n",
          "column",
          hasAuc(task) ? "  AUC lost  95% interval        " : "",
          hasLoss(task) ? "  loss gained  95% interval" : "");
      for (Importance.Column column : sorted(task)) {
        Importance.Lost lost = column.tasks().get(task);
        out.println(
            ("%-24s".formatted(Shown.excerpt(column.part().name()))
                    + (hasAuc(task) ? "  %8s  %-20s".formatted(text(lost.auc())) : "")
                    + (hasLoss(task) ? "  %11s  %-20s".formatted(text(lost.loss())) : ""))
                .stripTrailing());
      }
    }
    out.flush();
  }

  private static Object[] text(Spread spread) {
    return new Object[] {number(spread.mean()), interval(spread)};
  }

  static String number(double value) {
    return Format.fixed(value, DECIMALS);
  }

  static String interval(Spread spread) {
    return spread.interval(DECIMALS);
  }

  /** Prints a line of JSON for each column and task, in the order of the tables. */
  void printJson(PrintWriter out) {
    for (int task = 0; task < base.size(); task++) {
      for (Importance.Column column : sorted(task)) {
        Importance.Lost lost = column.tasks().get(task);
        Json.Obj line =
            Json.object()
                .put("column", column.part().name())
                .put("task", base.get(task).task())
                .put("rows", rows)
                .put("of_rows", seen)
                .put("repeats", repeats);
        if (hasAuc(task)) {
          line.put("auc", base.get(task).auc()).put("auc_lost", json(lost.auc()));
        }
        if (hasLoss(task)) {
          line.put("loss", base.get(task).loss()).put("loss_gained", json(lost.loss()));
        }
        out.println(line);
      }
    }
    out.flush();
  }

  private static Json json(Spread spread) {
    return Json.object()
        .put("mean", real(spread.mean()))
        .put("low", real(spread.low()))
        .put("high", real(spread.high()));
  }

  private static Json real(double value) {
    return Double.isFinite(value) ? new Json.Real(value) : Json.Null.NULL;
  }
}
