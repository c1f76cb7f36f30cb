package dev.tern.train;

import dev.tern.internal.json.Json;
import dev.tern.model.ModelConfig;
import java.util.List;

/** A model's name and sizes as JSON. */
final class ModelJson {
  private ModelJson() {}

  static Json.Obj write(ModelConfig config) {
    return Json.object()
        .put("type", config.type().name())
        .put("embedding", config.embedding())
        .put("hidden", sizes(config.hidden()))
        .put("dropout", (double) config.dropout())
        .put("bottom", sizes(config.bottom()))
        .put("crossLayers", config.crossLayers());
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
        (int) json.integer("crossLayers"));
  }

  private static List<Integer> sizes(Json.Obj json, String key) {
    return json.array(key).stream()
        .map(item -> item instanceof Json.Int(long value) ? Math.toIntExact(value) : 0)
        .toList();
  }
}
