package dev.tern.cli.board;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/**
 * The numbers of one line of {@code metrics.jsonl}, read without a tree: a file may have a million
 * lines. The object is used again for each line. Unknown keys are passed over.
 */
final class Line {
  private static final JsonFactory JSON =
      JsonFactory.builder().enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER).build();

  /** Tasks of a line that are read. */
  static final int MOST_TASKS = 64;

  private static final int FIGURES = Figure.values().length;

  private long step;
  private long epoch;
  private boolean eval;
  private double seconds;
  private boolean hasTables;
  private long hits;
  private long misses;
  private boolean lossUnknown;
  private boolean tasksLeftOut;
  private final double[] run = new double[FIGURES];
  private final List<String> tasks = new ArrayList<>();
  private final List<double[]> figures = new ArrayList<>();

  /** Reads a line; false where it is none, and the numbers are then of no use. */
  boolean read(byte[] bytes, int from, int length) {
    clear();
    try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), bytes, from, length)) {
      return json.nextToken() == JsonToken.START_OBJECT
          && top(json)
          && json.nextToken() == null
          && step >= 0
          && Double.isFinite(seconds);
    } catch (JacksonException _) {
      return false; // A torn line, or one that is no JSON.
    }
  }

  private void clear() {
    step = -1;
    epoch = 0;
    seconds = Double.NaN;
    hasTables = false;
    hits = 0;
    misses = 0;
    lossUnknown = false;
    tasksLeftOut = false;
    Arrays.fill(run, Double.NaN);
    tasks.clear();
  }

  private boolean top(JsonParser json) {
    boolean split = false;
    while (json.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = json.currentName();
      JsonToken value = json.nextToken();
      switch (name) {
        case "step" -> step = whole(json, value);
        case "epoch" -> epoch = whole(json, value);
        case "split" -> {
          String text = value == JsonToken.VALUE_STRING ? json.getString() : "";
          eval = text.equals("eval");
          split = eval || text.equals("train");
        }
        case "seconds" -> seconds = number(json, value);
        case "samples_per_second" -> set(Figure.SPEED, number(json, value));
        case "memory_bytes" -> set(Figure.MEMORY, number(json, value));
        case "waiting" -> set(Figure.WAITING, number(json, value));
        case "ece" -> set(Figure.ECE, number(json, value));
        case "gauc" -> set(Figure.GAUC, number(json, value));
        case "recall" -> set(Figure.RECALL, number(json, value));
        case "tasks" -> tasks(json, value);
        case "tables" -> tables(json, value);
        default -> figure(name, json, value, run);
      }
    }
    return split;
  }

  private void set(Figure figure, double value) {
    run[figure.ordinal()] = value;
  }

  private void figure(String name, JsonParser json, JsonToken value, double[] to) {
    switch (name) {
      case "loss" -> {
        to[Figure.LOSS.ordinal()] = number(json, value);
        lossUnknown |= value == JsonToken.VALUE_NULL;
      }
      case "auc" -> to[Figure.AUC.ordinal()] = number(json, value);
      case "r2" -> to[Figure.R2.ordinal()] = number(json, value);
      case "calibration" -> to[Figure.CALIBRATION.ordinal()] = number(json, value);
      default -> json.skipChildren();
    }
  }

  private void tasks(JsonParser json, JsonToken value) {
    if (value != JsonToken.START_OBJECT) {
      json.skipChildren();
      return;
    }
    while (json.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = json.currentName();
      boolean isTask = json.nextToken() == JsonToken.START_OBJECT;
      if (!isTask || tasks.size() == MOST_TASKS) {
        tasksLeftOut |= isTask;
        json.skipChildren();
        continue;
      }
      if (figures.size() == tasks.size()) {
        figures.add(new double[FIGURES]);
      }
      double[] own = figures.get(tasks.size());
      Arrays.fill(own, Double.NaN);
      tasks.add(name);
      while (json.nextToken() == JsonToken.PROPERTY_NAME) {
        String figure = json.currentName();
        figure(figure, json, json.nextToken(), own);
      }
    }
  }

  private void tables(JsonParser json, JsonToken value) {
    if (value != JsonToken.START_ARRAY) {
      json.skipChildren();
      return;
    }
    double rows = 0;
    double bytes = 0;
    while (json.nextToken() != JsonToken.END_ARRAY) {
      if (json.currentToken() != JsonToken.START_OBJECT) {
        json.skipChildren();
        continue;
      }
      while (json.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = json.currentName();
        JsonToken own = json.nextToken();
        switch (name) {
          case "rows" -> rows += number(json, own);
          case "bytes" -> bytes += number(json, own);
          case "hits" -> hits += Math.max(0, whole(json, own));
          case "misses" -> misses += Math.max(0, whole(json, own));
          default -> json.skipChildren();
        }
      }
      hasTables = true;
    }
    if (hasTables) {
      set(Figure.ROWS, rows);
      set(Figure.TABLE_BYTES, bytes);
    }
  }

  private static long whole(JsonParser json, JsonToken value) {
    if (value == JsonToken.VALUE_NUMBER_INT) {
      return json.getLongValue();
    }
    json.skipChildren();
    return -1;
  }

  private static double number(JsonParser json, JsonToken value) {
    if (value != null && value.isNumeric()) {
      return json.getDoubleValue();
    }
    json.skipChildren();
    return Double.NaN;
  }

  long step() {
    return step;
  }

  long epoch() {
    return epoch;
  }

  boolean isEval() {
    return eval;
  }

  double seconds() {
    return seconds;
  }

  boolean hasTables() {
    return hasTables;
  }

  long hits() {
    return hits;
  }

  long misses() {
    return misses;
  }

  /** Whether some loss is written as null: it was no finite number. */
  boolean isLossUnknown() {
    return lossUnknown;
  }

  /** Whether it has more tasks than {@link #MOST_TASKS}. */
  boolean hasTasksLeftOut() {
    return tasksLeftOut;
  }

  /** A figure of the run, or of the first task; NaN where it is unknown. */
  double of(Figure figure) {
    return run[figure.ordinal()];
  }

  /** Names of the tasks, where the line has several. */
  List<String> tasks() {
    return tasks;
  }

  /** A figure of a task of {@link #tasks}; NaN where it is unknown. */
  double of(int task, Figure figure) {
    return figures.get(task)[figure.ordinal()];
  }
}
