package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import dev.tern.model.Loss;

/** A task's loss as JSON. */
final class LossJson {
  private static final String TYPE = "type";

  private LossJson() {}

  static Json.Obj write(Loss loss) {
    Json.Obj json = Json.object();
    return switch (loss) {
      case Loss.BinaryCrossEntropy(boolean soft) -> json.put(TYPE, soft ? "soft-bce" : "bce");
      case Loss.SquaredError _ -> json.put(TYPE, "mse");
      case Loss.AbsoluteError _ -> json.put(TYPE, "mae");
      case Loss.Huber(float delta) -> json.put(TYPE, "huber").put("delta", delta);
      case Loss.Poisson _ -> json.put(TYPE, "poisson");
      case Loss.Focal(float gamma, float alpha) ->
          json.put(TYPE, "focal").put("gamma", gamma).put("alpha", alpha);
      case Loss.OfClass(int number, int classes) ->
          json.put(TYPE, "softmax").put("class", number).put("classes", classes);
      case Loss.Pairwise(String group) -> json.put(TYPE, "bpr").put("group", group);
    };
  }

  static Loss read(Json.Obj json) {
    String type = json.text(TYPE);
    return switch (type) {
      case "bce" -> Loss.BINARY_CROSS_ENTROPY;
      case "soft-bce" -> Loss.SOFT_CROSS_ENTROPY;
      case "mse" -> Loss.SQUARED_ERROR;
      case "mae" -> Loss.ABSOLUTE_ERROR;
      case "huber" -> new Loss.Huber((float) json.number("delta"));
      case "poisson" -> Loss.POISSON;
      case "focal" -> new Loss.Focal((float) json.number("gamma"), (float) json.number("alpha"));
      case "softmax" ->
          new Loss.OfClass(
              Math.toIntExact(json.integer("class")), Math.toIntExact(json.integer("classes")));
      case "bpr" -> new Loss.Pairwise(json.text("group"));
      default ->
          throw new DataException(
              "got the loss %s, expected one of this version; take a newer one".formatted(type));
    };
  }
}
