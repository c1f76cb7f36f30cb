package dev.tern.cli.run;

import dev.tern.data.encode.ColumnCounts;
import dev.tern.embedding.config.FileStatistics;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.internal.json.Json;
import java.util.List;
import java.util.Optional;

/**
 * One line of {@code metrics.jsonl}. An unknown number is NaN here and {@code null} in the file.
 *
 * @param step steps done
 * @param epoch pass over the training data, from 0
 * @param split what the numbers were taken on
 * @param loss of the first task: mean log loss a row, in nats, or mean loss of a task that predicts
 *     values: over the rows since the last line in training, over all rows in evaluation
 * @param auc area under the ROC curve over the same rows, 0 to 1
 * @param calibration mean prediction over mean label of the same rows; 1 is right
 * @param samplesPerSecond rows a second over the same rows
 * @param memoryBytes bytes of the memory budget in use
 * @param seconds time spent on training and evaluation so far, earlier parts of a resumed run
 *     included
 * @param waiting share of the time of these rows that training waited for them to be read, 0 to 1
 * @param tasks all tasks of the model, where there are several
 * @param tables the embedding tables as they are then; none where that is not known
 * @param columns in an evaluation, the columns with missing or unknown values
 * @param evaluated in an evaluation, what else it says about each task, one or several
 * @param values further figures of the first task, if it predicts values; its {@code auc} is NaN
 */
public record MetricsLine(
    long step,
    long epoch,
    Split split,
    double loss,
    double auc,
    double calibration,
    double samplesPerSecond,
    long memoryBytes,
    double seconds,
    double waiting,
    List<Task> tasks,
    List<TableStatistics> tables,
    List<ColumnCounts.Column> columns,
    List<EvaluatedTask> evaluated,
    Optional<Values> values) {
  public MetricsLine {
    tasks = List.copyOf(tasks);
    tables = List.copyOf(tables);
    columns = List.copyOf(columns);
    evaluated = List.copyOf(evaluated);
  }

  /** A line whose first task predicts probabilities. */
  public MetricsLine(
      long step,
      long epoch,
      Split split,
      double loss,
      double auc,
      double calibration,
      double samplesPerSecond,
      long memoryBytes,
      double seconds,
      double waiting,
      List<Task> tasks,
      List<TableStatistics> tables,
      List<ColumnCounts.Column> columns,
      List<EvaluatedTask> evaluated) {
    this(
        step,
        epoch,
        split,
        loss,
        auc,
        calibration,
        samplesPerSecond,
        memoryBytes,
        seconds,
        waiting,
        tasks,
        tables,
        columns,
        evaluated,
        Optional.empty());
  }

  /** A line without tables and waiting time. */
  public MetricsLine(
      long step,
      long epoch,
      Split split,
      double loss,
      double auc,
      double calibration,
      double samplesPerSecond,
      long memoryBytes,
      double seconds) {
    this(
        step,
        epoch,
        split,
        loss,
        auc,
        calibration,
        samplesPerSecond,
        memoryBytes,
        seconds,
        Double.NaN,
        List.of(),
        List.of(),
        List.of(),
        List.of());
  }

  /** GAUC by rows of the first task; NaN where it is unknown. */
  public double gauc() {
    return evaluated.isEmpty() ? Double.NaN : evaluated.getFirst().gauc();
  }

  /** Recall of retrieval; NaN where it is unknown. */
  public double recall() {
    return evaluated.isEmpty() ? Double.NaN : evaluated.getFirst().recall();
  }

  /** The expected calibration error of the first task; NaN where it is unknown. */
  public double calibrationError() {
    return evaluated.isEmpty() ? Double.NaN : evaluated.getFirst().calibrationError();
  }

  /**
   * The figures of one task; a line has the first task's.
   *
   * @param name of its label
   */
  public record Task(
      String name, double loss, double auc, double calibration, Optional<Values> values) {
    /** Figures of a task that predicts probabilities. */
    public Task(String name, double loss, double auc, double calibration) {
      this(name, loss, auc, calibration, Optional.empty());
    }
  }

  /** Figures of a task that predicts values. */
  public record Values(double mse, double mae, double r2, double smape) {
    private void put(Json.Obj json) {
      MetricsLine.put(json, "mse", mse);
      MetricsLine.put(json, "mae", mae);
      MetricsLine.put(json, "r2", r2);
      MetricsLine.put(json, "smape", smape);
    }

    private static Optional<Values> of(Json.Obj json) {
      return json.has("mse")
          ? Optional.of(
              new Values(
                  number(json, "mse"),
                  number(json, "mae"),
                  number(json, "r2"),
                  number(json, "smape")))
          : Optional.empty();
    }
  }

  /** The rows that the numbers of a line are about. */
  public enum Split {
    TRAIN,
    EVAL;

    /** As it is written in the file. */
    public String text() {
      return this == TRAIN ? "train" : "eval";
    }
  }

  /** The line without its end. */
  public String toJson() {
    Json.Obj line = Json.object().put("step", step).put("epoch", epoch).put("split", split.text());
    put(line, "loss", loss);
    put(line, "auc", auc);
    put(line, "calibration", calibration);
    values.ifPresent(of -> of.put(line));
    if (!evaluated.isEmpty() && evaluated.getFirst().reliability().isPresent()) {
      put(line, "ece", calibrationError());
    }
    if (!evaluated.isEmpty() && evaluated.getFirst().groups().isPresent()) {
      put(line, "gauc", gauc());
    }
    if (!evaluated.isEmpty() && evaluated.getFirst().retrieval().isPresent()) {
      put(line, "recall", recall());
    }
    put(line, "samples_per_second", samplesPerSecond);
    line.put("memory_bytes", memoryBytes);
    put(line, "seconds", seconds);
    if (split == Split.TRAIN) {
      put(line, "waiting", waiting);
    }
    if (!tasks.isEmpty()) {
      Json.Obj byName = Json.object();
      tasks.forEach(task -> byName.put(task.name(), json(task)));
      line.put("tasks", byName);
    }
    if (!tables.isEmpty()) {
      line.put("tables", new Json.Arr(tables.stream().map(MetricsLine::json).toList()));
    }
    if (!columns.isEmpty()) {
      Json.Obj byName = Json.object();
      columns.forEach(column -> byName.put(column.name(), json(column)));
      line.put("columns", byName);
    }
    if (!evaluated.isEmpty()) {
      Json.Obj byName = Json.object();
      evaluated.forEach(task -> byName.put(task.name(), task.json()));
      line.put("evaluated", byName);
    }
    return line.toString();
  }

  private static Json json(Task task) {
    Json.Obj json = Json.object();
    put(json, "loss", task.loss());
    put(json, "auc", task.auc());
    put(json, "calibration", task.calibration());
    task.values().ifPresent(of -> of.put(json));
    return json;
  }

  private static List<Task> tasks(Json.Obj byName) {
    return byName.fields().keySet().stream()
        .map(name -> {
          Json.Obj task = byName.object(name);
          return new Task(
              name,
              number(task, "loss"),
              number(task, "auc"),
              number(task, "calibration"),
              Values.of(task));
        })
        .toList();
  }

  private static Json json(ColumnCounts.Column column) {
    return Json.object()
        .put("rows", column.rows())
        .put("missing", column.missing())
        .put("values", column.values())
        .put("unknown", column.unknown());
  }

  private static List<ColumnCounts.Column> columns(Json.Obj byName) {
    return byName.fields().keySet().stream()
        .map(name -> {
          Json.Obj column = byName.object(name);
          return new ColumnCounts.Column(
              name,
              column.integer("rows"),
              column.integer("missing"),
              column.integer("values"),
              column.integer("unknown"));
        })
        .toList();
  }

  private static Json json(TableStatistics table) {
    Json.Obj json =
        Json.object()
            .put("table", table.table())
            .put("rows", table.rows())
            .put("bytes", table.bytes())
            .put("index_bytes", table.indexBytes());
    put(json, "probes", table.probes());
    json.put("hits", table.hits())
        .put("misses", table.misses())
        .put("admitted", table.admitted())
        .put("rejected", table.rejected())
        .put("evicted", table.evicted());
    if (table.filterBytes() > 0) {
      json.put("filter_bytes", table.filterBytes()).put("shared_counters", table.sharedCounters());
    }
    FileStatistics file = table.file();
    if (file.bytes() > 0) {
      json.put("file_rows", file.rows())
          .put("file_bytes", file.bytes())
          .put("spilled", file.spilled())
          .put("fetched", file.fetched())
          .put("bytes_written", file.bytesWritten())
          .put("bytes_read", file.bytesRead());
    }
    return json;
  }

  /** Numbers that lines of earlier versions lack are 0 or unknown. */
  private static TableStatistics table(Json item, String source) {
    Json.Obj json = item.asObject(source);
    boolean counts = json.has("filter_bytes");
    FileStatistics file =
        json.has("file_bytes")
            ? new FileStatistics(
                json.integer("file_rows"),
                json.integer("file_bytes"),
                json.integer("spilled"),
                json.integer("fetched"),
                integer(json, "bytes_written"),
                integer(json, "bytes_read"))
            : FileStatistics.NONE;
    return new TableStatistics(
        json.text("table"),
        json.integer("rows"),
        json.integer("bytes"),
        new TableStatistics.Index(integer(json, "index_bytes"), number(json, "probes")),
        new TableStatistics.Ids(
            json.integer("hits"),
            json.integer("misses"),
            json.integer("admitted"),
            json.integer("rejected"),
            json.integer("evicted")),
        new TableStatistics.Filter(
            counts ? json.integer("filter_bytes") : 0, counts ? json.number("shared_counters") : 0),
        file);
  }

  /**
   * Reads a line.
   *
   * @param source what errors call it
   * @throws dev.tern.base.DataException if it is not one
   */
  public static MetricsLine parse(String json, String source) {
    Json.Obj line = Json.parseObject(json, source);
    return new MetricsLine(
        line.integer("step"),
        line.integer("epoch"),
        line.text("split").equals("eval") ? Split.EVAL : Split.TRAIN,
        number(line, "loss"),
        number(line, "auc"),
        number(line, "calibration"),
        number(line, "samples_per_second"),
        line.integer("memory_bytes"),
        number(line, "seconds"),
        number(line, "waiting"),
        line.has("tasks") ? tasks(line.object("tasks")) : List.of(),
        line.has("tables")
            ? line.array("tables").stream().map(table -> table(table, source)).toList()
            : List.of(),
        line.has("columns") ? columns(line.object("columns")) : List.of(),
        line.has("evaluated") ? EvaluatedTask.parse(line.object("evaluated"), source) : List.of(),
        Values.of(line));
  }

  static void put(Json.Obj line, String key, double value) {
    if (Double.isFinite(value)) {
      line.put(key, value);
    } else {
      line.put(key, Json.Null.NULL);
    }
  }

  private static long integer(Json.Obj line, String key) {
    return line.has(key) ? line.integer(key) : 0;
  }

  static double number(Json.Obj line, String key) {
    return !line.has(key) || line.get(key) == Json.Null.NULL ? Double.NaN : line.number(key);
  }
}
