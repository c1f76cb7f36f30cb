package dev.tern.cli.run;

import dev.tern.internal.json.Json;
import dev.tern.train.Reliability;
import java.util.List;

/**
 * What an evaluation says about a task beside loss, AUC and calibration.
 *
 * @param name of its label
 * @param reliability predictions beside rates
 */
public record EvaluatedTask(String name, Reliability reliability) {
  Json json() {
    return Json.object()
        .put(
            "reliability",
            new Json.Arr(reliability.bins().stream().map(EvaluatedTask::json).toList()));
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
    List<Reliability.Bin> bins =
        task.array("reliability").stream().map(bin -> bin(bin.asObject(source))).toList();
    return new EvaluatedTask(name, new Reliability(bins));
  }

  private static Reliability.Bin bin(Json.Obj json) {
    return new Reliability.Bin(
        json.number("rows"), json.number("positives"), json.number("prediction"));
  }
}
