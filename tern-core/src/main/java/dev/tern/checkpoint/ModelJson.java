package dev.tern.checkpoint;

import dev.tern.internal.json.Json;
import dev.tern.model.ModelConfig;
import dev.tern.nn.Activation;
import java.util.List;

/** A model's name and sizes as JSON, without what a model has no use for by default. */
final class ModelJson {
  private ModelJson() {}

  static Json.Obj write(ModelConfig config) {
    Json.Obj json =
        Json.object()
            .put("type", config.type().name())
            .put("embedding", config.embedding())
            .put("hidden", sizes(config.hidden()))
            .put("dropout", (double) config.dropout())
            .put("bottom", sizes(config.bottom()))
            .put("crossLayers", config.crossLayers());
    if (config.crossRank() > 0) {
      json.put("crossRank", config.crossRank()).put("crossExperts", config.crossExperts());
    }
    if (config.activation() != Activation.RELU) {
      json.put("activation", config.activation().name());
    }
    if (config.batchNorm()) {
      json.put("batchNorm", true);
    }
    if (config.heads() > 1) {
      json.put("heads", config.heads());
    }
    return json;
  }

  private static Json sizes(List<Integer> sizes) {
    return new Json.Arr(sizes.stream().<Json>map(size -> new Json.Int(size)).toList());
  }

  static ModelConfig read(Json.Obj json) {
    return new ModelConfig(
        ModelConfig.Type.valueOf(json.text("type")),
        (int) json.integer("embedding"),
        sizes(json, "hidden"),
        (float) json.number("dropout"),
        sizes(json, "bottom"),
        (int) json.integer("crossLayers"),
        json.has("crossRank") ? (int) json.integer("crossRank") : 0,
        json.has("crossExperts") ? (int) json.integer("crossExperts") : 0,
        json.has("activation") ? Activation.valueOf(json.text("activation")) : Activation.RELU,
        json.has("batchNorm") && json.flag("batchNorm"),
        json.has("heads") ? (int) json.integer("heads") : 1);
  }

  private static List<Integer> sizes(Json.Obj json, String key) {
    return json.array(key).stream()
        .map(item -> item instanceof Json.Int(long value) ? Math.toIntExact(value) : 0)
        .toList();
  }
}
