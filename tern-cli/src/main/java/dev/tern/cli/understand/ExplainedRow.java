package dev.tern.cli.understand;

import dev.tern.base.Shown;
import dev.tern.cli.run.Format;
import dev.tern.data.Batch;
import dev.tern.data.ColumnPart;
import dev.tern.internal.json.Json;
import dev.tern.model.Task;
import dev.tern.predict.ColumnShares;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The shares of columns in one row, for people and programs.
 *
 * @param row its place among the rows of {@code shares}, {@code scores} and {@code batch}
 * @param scores of each row one for each task
 */
record ExplainedRow(
    ColumnShares shares,
    int row,
    List<Task> tasks,
    float[] scores,
    Batch batch,
    ShownValues values) {
  /**
   * The columns with the largest share first, by the first task; {@code top} of them, 0 for all.
   */
  private List<Integer> largest(int top) {
    int columns = shares.columns().size();
    return IntStream.range(0, columns)
        .boxed()
        .sorted(Comparator.comparingDouble(column -> -Math.abs(shares.share(row, column, 0))))
        .limit(top == 0 ? columns : top)
        .toList();
  }

  /** Prints a table. */
  void print(long number, int top, PrintWriter out) {
    out.print("row " + Format.whole(number));
    for (int task = 0; task < tasks.size(); task++) {
      int place = row * tasks.size() + task;
      out.printf(
          "%s %s score %s, logit %s",
          task == 0 ? ":" : ",",
          Shown.excerpt(tasks.get(task).label()),
          Format.probability(scores[place]),
          Format.signed(shares.logits()[place], 4));
    }
    out.println();
    List<Integer> largest = largest(top);
    List<ColumnPart> parts = ColumnPart.of(values.encoder().rawSchema());
    for (int column : largest) {
      out.printf(
          "  %-24s %-24s%s%n",
          Shown.excerpt(shares.columns().get(column)),
          values.of(batch, row, parts.get(column)),
          shares(List.of(column)));
    }
    List<Integer> others = others(largest);
    if (!others.isEmpty()) {
      out.printf(
          "  %-24s %-24s%s%n",
          others.size() == 1 ? "1 other column" : others.size() + " other columns",
          "",
          shares(others));
    }
  }

  /** The shares of columns together, of each task. */
  private String shares(List<Integer> columns) {
    StringBuilder out = new StringBuilder();
    for (int task = 0; task < tasks.size(); task++) {
      out.append(" %9s".formatted(Format.signed(sum(columns, task), 4)));
    }
    return out.toString();
  }

  private double sum(List<Integer> columns, int task) {
    double sum = 0;
    for (int column : columns) {
      sum += shares.share(row, column, task);
    }
    return sum;
  }

  private List<Integer> others(List<Integer> largest) {
    return IntStream.range(0, shares.columns().size())
        .boxed()
        .filter(column -> !largest.contains(column))
        .toList();
  }

  /** One object; of several tasks there is one number of each in an array. */
  String json(long number, int top) {
    List<Integer> largest = largest(top);
    int place = row * tasks.size();
    Json.Obj columns = Json.object();
    for (int column : largest) {
      List<Json> each = new ArrayList<>();
      for (int task = 0; task < tasks.size(); task++) {
        each.add(real(shares.share(row, column, task)));
      }
      columns.put(shares.columns().get(column), alone(each));
    }
    Json.Obj line = Json.object().put("row", number);
    if (tasks.size() > 1) {
      List<Json> names = new ArrayList<>();
      tasks.forEach(task -> names.add(new Json.Str(task.label())));
      line.put("tasks", new Json.Arr(names));
    }
    line.put("score", numbers(scores, place)).put("logit", numbers(shares.logits(), place));
    line.put("shares", columns);
    List<Integer> others = others(largest);
    if (!others.isEmpty()) {
      List<Json> each = new ArrayList<>();
      for (int task = 0; task < tasks.size(); task++) {
        each.add(real((float) sum(others, task)));
      }
      line.put("others", Json.object().put("columns", others.size()).put("shares", alone(each)));
    }
    return line.toString();
  }

  private Json numbers(float[] values, int place) {
    List<Json> each = new ArrayList<>();
    for (int task = 0; task < tasks.size(); task++) {
      each.add(real(values[place + task]));
    }
    return alone(each);
  }

  private static Json alone(List<Json> each) {
    return each.size() == 1 ? each.getFirst() : new Json.Arr(each);
  }

  /** With the digits that tell a float from its neighbours. */
  private static Json real(float value) {
    return Float.isFinite(value)
        ? new Json.Real(Double.parseDouble(Float.toString(value)))
        : Json.Null.NULL;
  }
}
