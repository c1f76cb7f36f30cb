package dev.tern.cli.board;

import dev.tern.internal.json.Json;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * All curves of a run, and the last points by number, for pages that have the ones before. A curve
 * is known by split, figure and task, as in {@code eval/auc/click}; the task is empty where there
 * is one alone.
 */
final class Curves {
  /** Points that are kept for pages that have all before them. */
  private static final int RECENT = 4_000;

  /** Names of tasks at most, over all lines. */
  private static final int MOST_TASKS = 4 * Line.MOST_TASKS;

  private static final Figure[] FIGURES = Figure.values();

  /** The curves of a split and a task, by figure. */
  private record Group(String split, String task, Curve[] curves) {
    private String key(Figure figure) {
      return split + "/" + figure.text() + "/" + task;
    }
  }

  private final Map<String, Group> train = new LinkedHashMap<>();
  private final Map<String, Group> eval = new LinkedHashMap<>();

  // The point of number n lies at n % RECENT.
  private final Group[] groups = new Group[RECENT];
  private final Figure[] figures = new Figure[RECENT];
  private final long[] steps = new long[RECENT];
  private final double[] seconds = new double[RECENT];
  private final double[] values = new double[RECENT];

  /** Points so far. */
  private long count;

  private boolean tasksLeftOut;
  private long hits;
  private long misses;

  /** Adds the points of a line. */
  void add(Line line) {
    Map<String, Group> split = line.isEval() ? eval : train;
    Group run = group(line, split, "");
    for (Figure figure : FIGURES) {
      if (!figure.isOfTask() || line.tasks().isEmpty()) {
        point(run, figure, line, line.of(figure));
      }
    }
    for (int task = 0; task < line.tasks().size(); task++) {
      String name = line.tasks().get(task);
      if (!split.containsKey(name) && split.size() == MOST_TASKS) {
        tasksLeftOut = true;
      } else {
        Group own = group(line, split, name);
        for (Figure figure : FIGURES) {
          if (figure.isOfTask()) {
            point(own, figure, line, value(line, task, figure));
          }
        }
      }
    }
    tasksLeftOut |= line.hasTasksLeftOut();
    if (line.hasTables()) {
      long found = line.hits() >= hits ? line.hits() - hits : line.hits();
      long missed = line.misses() >= misses ? line.misses() - misses : line.misses();
      if (found + missed > 0 && !line.isEval()) {
        point(run, Figure.HIT_RATE, line, (double) found / (found + missed));
      }
      hits = line.hits();
      misses = line.misses();
    }
  }

  /** ECE, GAUC and recall stand on the line itself, for the first task. */
  static double value(Line line, int task, Figure figure) {
    boolean onLine = figure == Figure.ECE || figure == Figure.GAUC || figure == Figure.RECALL;
    boolean first = task == 0 && onLine;
    return first ? line.of(figure) : line.of(task, figure);
  }

  private static Group group(Line line, Map<String, Group> split, String task) {
    Group known = split.get(task);
    if (known == null) {
      known = new Group(line.isEval() ? "eval" : "train", task, new Curve[FIGURES.length]);
      split.put(task, known);
    }
    return known;
  }

  private void point(Group group, Figure figure, Line line, double value) {
    if (!Double.isFinite(value)) {
      return;
    }
    int at = figure.ordinal();
    Curve curve = group.curves[at];
    if (curve == null) {
      curve = new Curve();
      group.curves[at] = curve;
    }
    curve.add(line.step(), line.seconds(), value);
    int free = (int) (count % RECENT);
    groups[free] = group;
    figures[free] = figure;
    steps[free] = line.step();
    seconds[free] = line.seconds();
    values[free] = value;
    count++;
  }

  /** Whether some task has no curves, as there is no room. */
  boolean hasTasksLeftOut() {
    return tasksLeftOut;
  }

  /** Points so far: the number of the next one. */
  long count() {
    return count;
  }

  /** Whether all points from number {@code from} on are still kept one by one. */
  boolean keepsFrom(long from) {
    return from >= count - RECENT && from <= count;
  }

  /** Points from number {@code from} on, as a JSON array of key, step, seconds and value. */
  String since(long from) {
    StringBuilder out = new StringBuilder("[");
    for (long number = from; number < count; number++) {
      int at = (int) (number % RECENT);
      out.append(number == from ? "[" : ",[")
          .append(new Json.Str(groups[at].key(figures[at])))
          .append(',')
          .append(steps[at])
          .append(',')
          .append(Curve.text(seconds[at]))
          .append(',')
          .append(Curve.text(values[at]))
          .append(']');
    }
    return out.append(']').toString();
  }

  /** All curves as a JSON object by key. */
  String toJson() {
    StringBuilder out = new StringBuilder("{");
    append(out, train);
    append(out, eval);
    return out.append('}').toString();
  }

  private static void append(StringBuilder out, Map<String, Group> split) {
    for (Group group : split.values()) {
      for (Figure figure : FIGURES) {
        Curve curve = group.curves[figure.ordinal()];
        if (curve != null) {
          out.append(out.length() == 1 ? "" : ",")
              .append(new Json.Str(group.key(figure)))
              .append(':');
          curve.appendTo(out);
        }
      }
    }
  }
}
