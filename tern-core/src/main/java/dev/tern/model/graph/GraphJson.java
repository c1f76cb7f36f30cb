package dev.tern.model.graph;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/** A {@link Graph} as JSON. */
final class GraphJson {
  /** More layers than any graph has. */
  private static final int MOST = 10_000;

  private GraphJson() {}

  static Json.Obj write(Graph graph) {
    return Json.object()
        .put("inputs", new Json.Arr(graph.inputs().stream().map(GraphJson::input).toList()))
        .put("layers", new Json.Arr(graph.layers().stream().map(GraphJson::layer).toList()))
        .put("logits", names(graph.logits()));
  }

  static String lines(Graph graph) {
    StringBuilder text = new StringBuilder("{\"inputs\": [");
    append(text, graph.inputs().stream().map(GraphJson::input).toList());
    text.append("],\n \"layers\": [");
    append(text, graph.layers().stream().map(GraphJson::layer).toList());
    return text.append("],\n \"logits\": ").append(names(graph.logits())).append("}\n").toString();
  }

  private static void append(StringBuilder text, List<Json> items) {
    for (int i = 0; i < items.size(); i++) {
      text.append(i == 0 ? "\n  " : ",\n  ").append(items.get(i));
    }
  }

  private static Json input(GraphInput input) {
    Json.Obj json =
        Json.object()
            .put("name", input.name())
            .put("kind", input.kind().name().toLowerCase(Locale.ROOT));
    return input.columns().isEmpty() ? json : json.put("columns", names(input.columns()));
  }

  private static Json layer(GraphLayer layer) {
    Json.Obj json =
        Json.object()
            .put("name", layer.name())
            .put("op", layer.op().text())
            .put("in", names(layer.inputs()));
    if (!layer.outputs().equals(List.of(layer.name()))) {
      json.put("out", names(layer.outputs()));
    }
    for (GraphNumber number : layer.op().numbers()) {
      json.put(number.name(), number.write(layer.numbers().getOrDefault(number.name(), List.of())));
    }
    return json;
  }

  private static Json names(List<String> names) {
    return new Json.Arr(names.stream().<Json>map(Json.Str::new).toList());
  }

  static Graph read(String text, String source) {
    Json.Obj json = Json.parseObject(text, source);
    try {
      requireFields(json, Set.of("inputs", "layers", "logits"), "graph");
      List<GraphInput> inputs = new ArrayList<>();
      for (Json input : items(json, "inputs")) {
        String where = "inputs[" + inputs.size() + "]";
        inputs.add(at(where, () -> input(input.asObject(where), where)));
      }
      List<GraphLayer> layers = new ArrayList<>();
      for (Json layer : items(json, "layers")) {
        String where = "layers[" + layers.size() + "]";
        layers.add(at(where, () -> layer(layer.asObject(where), where)));
      }
      return new Graph(inputs, layers, names(json, "logits"));
    } catch (DataException e) {
      throw new DataException(source + ": " + e.getMessage(), e);
    }
  }

  /** Says in errors where the value stands. */
  private static <T> T at(String where, Supplier<T> read) {
    try {
      return read.get();
    } catch (DataException e) {
      throw new DataException(where + ": " + e.getMessage(), e);
    }
  }

  private static List<Json> items(Json.Obj json, String key) {
    List<Json> items = json.array(key);
    if (items.size() > MOST) {
      throw new DataException(
          "\"%s\": got %d items, expected at most %d".formatted(key, items.size(), MOST));
    }
    return items;
  }

  private static void requireFields(Json.Obj json, Set<String> known, String where) {
    for (String field : json.fields().keySet()) {
      if (!known.contains(field)) {
        throw new DataException(
            "%s: got the field \"%s\", expected some of %s; check its name"
                .formatted(where, field, new TreeSet<>(known)));
      }
    }
  }

  private static GraphInput input(Json.Obj json, String where) {
    requireFields(json, Set.of("name", "kind", "columns"), where);
    String kind = json.text("kind");
    for (GraphInput.Kind each : GraphInput.Kind.values()) {
      if (each.name().toLowerCase(Locale.ROOT).equals(kind)) {
        List<String> columns = json.has("columns") ? names(json, "columns") : List.of();
        return new GraphInput(json.text("name"), each, columns);
      }
    }
    throw new DataException(
        "\"kind\": got \"%s\", expected numbers, vectors or features".formatted(kind));
  }

  private static GraphLayer layer(Json.Obj json, String where) {
    String name = json.text("name");
    String text = json.text("op");
    GraphOp op =
        GraphOp.of(text)
            .orElseThrow(() ->
                new DataException(
                    "\"op\": got \"%s\" in layer %s, expected one of %s"
                        .formatted(
                            text,
                            name,
                            Arrays.stream(GraphOp.values()).map(GraphOp::text).toList())));
    Set<String> known = new TreeSet<>(Set.of("name", "op", "in", "out"));
    Map<String, List<Double>> numbers = new LinkedHashMap<>();
    for (GraphNumber each : op.numbers()) {
      known.add(each.name());
      numbers.put(each.name(), each.read(json.get(each.name()), each.name()));
    }
    requireFields(json, known, where);
    List<String> out = json.has("out") ? names(json, "out") : List.of(name);
    return new GraphLayer(name, op, names(json, "in"), out, numbers);
  }

  private static List<String> names(Json.Obj json, String key) {
    return json.array(key).stream().map(name -> name.asText(key)).toList();
  }
}
