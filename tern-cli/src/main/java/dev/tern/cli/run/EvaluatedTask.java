package dev.tern.cli.run;

import dev.tern.internal.json.Json;
import dev.tern.metrics.ClassMetrics;
import dev.tern.metrics.GroupMetrics;
import dev.tern.metrics.Reliability;
import dev.tern.metrics.RetrievalMetrics;
import java.util.List;
import java.util.Optional;

/**
 * What an evaluation says about a task beside loss, AUC and calibration.
 *
 * @param name of its label
 * @param reliability predictions beside rates, of a model that gives probabilities
 * @param groups figures of the rows of each value of a column, where one is named
 * @param classes figures of all classes of a label, for its class 0
 * @param retrieval how often the own item of rows is found, of two towers
 */
public record EvaluatedTask(
    String name,
    Optional<Reliability> reliability,
    Optional<Groups> groups,
    Optional<ClassMetrics.Result> classes,
    Optional<RetrievalMetrics.Result> retrieval) {
  /** What is said about a task that is no class, and not of two towers. */
  public EvaluatedTask(String name, Optional<Reliability> reliability, Optional<Groups> groups) {
    this(name, reliability, groups, Optional.empty(), Optional.empty());
  }

  /**
   * Figures by group.
   *
   * @param column that groups rows
   * @param at rows that count as the first of a group
   * @param figures of all groups
   */
  public record Groups(String column, int at, GroupMetrics.Result figures) {
    private Json json() {
      Json.Obj json =
          Json.object()
              .put("column", column)
              .put("at", at)
              .put("groups", figures.counts().groups())
              .put("mixed", figures.counts().mixed())
              .put("positive", figures.counts().positive());
      MetricsLine.put(json, "gauc_by_rows", figures.auc().byRows());
      MetricsLine.put(json, "gauc_by_positives", figures.auc().byPositives());
      MetricsLine.put(json, "gauc_by_groups", figures.auc().byGroups());
      MetricsLine.put(json, "ndcg", figures.order().ndcg());
      MetricsLine.put(json, "recall", figures.order().recall());
      MetricsLine.put(json, "hit_rate", figures.order().hitRate());
      MetricsLine.put(json, "mrr", figures.order().reciprocalRank());
      return json;
    }

    private static Groups parse(Json.Obj json) {
      return new Groups(
          json.text("column"),
          Math.toIntExact(json.integer("at")),
          new GroupMetrics.Result(
              new GroupMetrics.Counts(
                  json.integer("groups"), json.integer("mixed"), json.integer("positive")),
              new GroupMetrics.Auc(
                  MetricsLine.number(json, "gauc_by_rows"),
                  MetricsLine.number(json, "gauc_by_positives"),
                  MetricsLine.number(json, "gauc_by_groups")),
              new GroupMetrics.Order(
                  MetricsLine.number(json, "ndcg"),
                  MetricsLine.number(json, "recall"),
                  MetricsLine.number(json, "hit_rate"),
                  MetricsLine.number(json, "mrr"))));
    }
  }

  /** The expected calibration error; NaN where it is unknown. */
  public double calibrationError() {
    return reliability.map(Reliability::error).orElse(Double.NaN);
  }

  /** GAUC by rows; NaN where it is unknown. */
  public double gauc() {
    return groups.map(own -> own.figures().auc().byRows()).orElse(Double.NaN);
  }

  /** The share of rows labelled 1 whose own item is found; NaN where it is unknown. */
  public double recall() {
    return retrieval.map(RetrievalMetrics.Result::recall).orElse(Double.NaN);
  }

  Json json() {
    Json.Obj json = Json.object();
    reliability.ifPresent(own ->
        json.put(
            "reliability", new Json.Arr(own.bins().stream().map(EvaluatedTask::json).toList())));
    groups.ifPresent(own -> json.put("by_group", own.json()));
    classes.ifPresent(own -> json.put("classes", json(own)));
    retrieval.ifPresent(own -> json.put("retrieval", json(own)));
    return json;
  }

  private static Json json(ClassMetrics.Result result) {
    Json.Obj json =
        Json.object()
            .put("label", result.label())
            .put("classes", result.classes())
            .put("rows", result.rows());
    MetricsLine.put(json, "accuracy", result.accuracy());
    MetricsLine.put(json, "log_loss", result.logLoss());
    return json;
  }

  private static Json json(RetrievalMetrics.Result result) {
    Json.Obj json =
        Json.object()
            .put("at", result.at())
            .put("candidates", result.candidates())
            .put("rows", result.rows());
    MetricsLine.put(json, "recall", result.recall());
    return json;
  }

  private static RetrievalMetrics.Result retrieval(Json.Obj json) {
    return new RetrievalMetrics.Result(
        Math.toIntExact(json.integer("at")),
        Math.toIntExact(json.integer("candidates")),
        json.integer("rows"),
        MetricsLine.number(json, "recall"));
  }

  private static ClassMetrics.Result classes(Json.Obj json) {
    return new ClassMetrics.Result(
        json.text("label"),
        Math.toIntExact(json.integer("classes")),
        json.integer("rows"),
        MetricsLine.number(json, "accuracy"),
        MetricsLine.number(json, "log_loss"));
  }

  private static Json json(Reliability.Bin bin) {
    return Json.object()
        .put("rows", whole(bin.rows()))
        .put("positives", whole(bin.positives()))
        .put("prediction", bin.prediction());
  }

  /** Without a fraction where there is none, as of rows without weights. */
  private static Json whole(double value) {
    return value == Math.rint(value) && value < 1L << 53
        ? new Json.Int((long) value)
        : new Json.Real(value);
  }

  static List<EvaluatedTask> parse(Json.Obj byName, String source) {
    return byName.fields().keySet().stream()
        .map(name -> parse(name, byName.object(name), source))
        .toList();
  }

  private static EvaluatedTask parse(String name, Json.Obj task, String source) {
    return new EvaluatedTask(
        name,
        task.has("reliability")
            ? Optional.of(
                new Reliability(
                    task.array("reliability").stream()
                        .map(bin -> bin(bin.asObject(source)))
                        .toList()))
            : Optional.empty(),
        task.has("by_group")
            ? Optional.of(Groups.parse(task.object("by_group")))
            : Optional.empty(),
        task.has("classes") ? Optional.of(classes(task.object("classes"))) : Optional.empty(),
        task.has("retrieval")
            ? Optional.of(retrieval(task.object("retrieval")))
            : Optional.empty());
  }

  private static Reliability.Bin bin(Json.Obj json) {
    return new Reliability.Bin(
        json.number("rows"), json.number("positives"), json.number("prediction"));
  }
}
