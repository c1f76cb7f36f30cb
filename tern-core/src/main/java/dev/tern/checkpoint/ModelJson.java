package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import dev.tern.model.Loss;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.Task;
import dev.tern.model.Towers;
import dev.tern.model.Variant;
import dev.tern.model.WideDeep;
import dev.tern.model.Widths;
import dev.tern.model.graph.Graph;
import dev.tern.model.graph.GraphLayer;
import dev.tern.model.graph.GraphOp;
import dev.tern.nn.Activation;
import dev.tern.nn.Form;
import dev.tern.nn.Mlp;
import java.util.List;
import java.util.Optional;

/** Name and sizes of a model as JSON. Fields that have their default are left out. */
final class ModelJson {
  /** The widths of single slots; absent for none. */
  private static final String EMBEDDINGS = "embeddings";

  /** Columns of one part of the model alone; absent where there are none. */
  private static final String WIDE_ONLY = "wideOnly";

  private static final String DEEP_ONLY = "deepOnly";

  /** The layers of a model that lists them; absent for all others. */
  private static final String GRAPH = "graph";

  /**
   * True where the graph has a {@link #scaled} layer. Builds that did not know the field left the
   * factors of such layers unused.
   */
  private static final String SCALED = "scaledSoftmax";

  private ModelJson() {}

  static Json.Obj write(ModelConfig config) {
    Json.Obj json =
        Json.object()
            .put("type", config.type().name())
            .put("embedding", config.embedding())
            .put("hidden", sizes(config.hidden()))
            .put("dropout", config.style().dropout())
            .put("bottom", sizes(config.bottom()))
            .put("crossLayers", config.cross().layers());
    if (!config.widths().own().isEmpty()) {
      Json.Obj own = Json.object();
      config.widths().own().forEach(own::put);
      json.put(EMBEDDINGS, own);
    }
    if (config.cross().rank() > 0) {
      json.put("crossRank", config.cross().rank()).put("crossExperts", config.cross().experts());
    }
    if (config.style().activation() != Activation.RELU) {
      json.put("activation", config.style().activation().name());
    }
    if (config.style().batchNorm()) {
      json.put("batchNorm", true);
    }
    if (config.heads() > 1) {
      json.put("heads", config.heads());
    }
    // Without it pairs are of slots, as in checkpoints that do not know the field.
    if (config.pairs() != ModelConfig.Pairs.SLOTS) {
      json.put("pairs", config.pairs().name());
    }
    if (!config.interaction().attention().equals(ModelConfig.Interaction.ATTENTION)) {
      json.put("attention", sizes(config.interaction().attention()));
    }
    if (!config.matching().equals(Matching.DEFAULT)) {
      json.put("matching", matching(config.matching()));
    }
    WideDeep parts = config.interaction().wideDeep();
    if (!parts.equals(WideDeep.BOTH)) {
      json.put(WIDE_ONLY, names(parts.wideOnly())).put(DEEP_ONLY, names(parts.deepOnly()));
    }
    if (!config.variant().equals(Variant.of(config.type()))) {
      json.put("variant", variant(config.variant()));
    }
    if (!config.towers().equals(Towers.DEFAULT)) {
      json.put("towers", towers(config.towers()));
    }
    return json;
  }

  private static Json matching(Matching matching) {
    Json.Obj json =
        Json.object()
            .put("itemColumns", names(matching.itemColumns()))
            .put("temperature", matching.temperature())
            .put("normalized", matching.normalized())
            .put("corrected", matching.corrected());
    Matching.Sampled sampled = matching.sampled();
    if (!sampled.equals(Matching.Sampled.NONE)) {
      json.put("negatives", sampled.negatives()).put("pool", sampled.pool());
    }
    return json;
  }

  private static Matching matching(Json.Obj json) {
    return new Matching(
        names(json, "itemColumns"),
        (float) json.number("temperature"),
        json.flag("normalized"),
        json.flag("corrected"),
        json.has("negatives")
            ? new Matching.Sampled((int) json.integer("negatives"), (int) json.integer("pool"))
            : Matching.Sampled.NONE);
  }

  private static Json variant(Variant variant) {
    Json.Obj json =
        Json.object()
            .put("form", variant.form().name())
            .put("second", sizes(variant.second()))
            .put("units", variant.units())
            .put("vectors", variant.vectors())
            .put("reduction", variant.reduction())
            .put("levels", variant.levels());
    if (variant.auxiliary() != 0) {
      json.put("auxiliary", variant.auxiliary());
    }
    variant.graph().ifPresent(graph -> json.put(GRAPH, Json.parseObject(graph.text(), GRAPH)));
    variant.graph().flatMap(ModelJson::scaled).ifPresent(layer -> json.put(SCALED, true));
    return json;
  }

  private static Variant variant(Json.Obj json) {
    return new Variant(
        Form.valueOf(json.text("form")),
        sizes(json, "second"),
        new Variant.Counts(
            (int) json.integer("units"),
            (int) json.integer("vectors"),
            (int) json.integer("reduction"),
            (int) json.integer("levels")),
        json.has("auxiliary") ? (float) json.number("auxiliary") : 0,
        json.has(GRAPH) ? Optional.of(graph(json)) : Optional.empty());
  }

  private static Graph graph(Json.Obj json) {
    Graph graph = Graph.parse(json.object(GRAPH).toString(), GRAPH);
    scaled(graph)
        .filter(layer -> !json.has(SCALED))
        .ifPresent(layer -> {
          throw new DataException(
              "model: got the softmax layer %s with the factor %s and no mask in a checkpoint that does not say whether its build multiplied by it, which earlier builds did not, expected it to say so or 1; import the model again, or read it with the build that wrote it"
                  .formatted(layer.name(), layer.exact("factor")));
        });
    return graph;
  }

  /** A softmax that multiplies scores without a mask by a factor, if there is one. */
  private static Optional<GraphLayer> scaled(Graph graph) {
    return graph.layers().stream()
        .filter(layer -> layer.op() == GraphOp.SOFTMAX && layer.inputs().size() == 1)
        .filter(layer -> layer.exact("factor") != 1)
        .findFirst();
  }

  private static Json names(List<String> names) {
    return new Json.Arr(names.stream().<Json>map(Json.Str::new).toList());
  }

  private static List<String> names(Json.Obj json, String key) {
    return json.array(key).stream().map(name -> name.asText(key)).toList();
  }

  private static Json towers(Towers towers) {
    return Json.object()
        .put("tasks", tasks(towers.tasks()))
        .put("hidden", sizes(towers.hidden()))
        .put("experts", towers.experts())
        .put("gate", sizes(towers.gate()));
  }

  /** Tasks, in order. */
  static Json tasks(List<Task> tasks) {
    return new Json.Arr(tasks.stream().map(ModelJson::task).toList());
  }

  private static Json task(Task task) {
    Json.Obj json = Json.object().put("label", task.label()).put("weight", task.weight());
    task.within().ifPresent(label -> json.put("within", label));
    if (task.positiveWeight() != 1) {
      json.put("positiveWeight", task.positiveWeight());
    }
    if (task.negativeRate() != 1) {
      json.put("negativeRate", task.negativeRate());
    }
    if (!task.loss().equals(Loss.BINARY_CROSS_ENTROPY)) {
      json.put("loss", LossJson.write(task.loss()));
    }
    if (task.optional()) {
      json.put("optional", true);
    }
    return json;
  }

  private static Task task(Json.Obj json) {
    return new Task(
        json.text("label"),
        (float) json.number("weight"),
        json.has("within") ? Optional.of(json.text("within")) : Optional.empty(),
        json.has("positiveWeight") ? (float) json.number("positiveWeight") : 1,
        json.has("negativeRate") ? (float) json.number("negativeRate") : 1,
        json.has("loss") ? LossJson.read(json.object("loss")) : Loss.BINARY_CROSS_ENTROPY,
        json.has("optional") && json.flag("optional"));
  }

  private static Towers towers(Json.Obj json) {
    return new Towers(
        json.array("tasks").stream().map(task -> task(task.asObject("tasks"))).toList(),
        sizes(json, "hidden"),
        (int) json.integer("experts"),
        sizes(json, "gate"));
  }

  private static Json sizes(List<Integer> sizes) {
    return new Json.Arr(sizes.stream().<Json>map(size -> new Json.Int(size)).toList());
  }

  static ModelConfig read(Json.Obj json) {
    ModelConfig.Type type = ModelConfig.Type.valueOf(json.text("type"));
    return new ModelConfig(
        type,
        widths(json),
        sizes(json, "hidden"),
        sizes(json, "bottom"),
        new Mlp.Style(
            json.has("activation") ? Activation.valueOf(json.text("activation")) : Activation.RELU,
            json.has("batchNorm") && json.flag("batchNorm"),
            (float) json.number("dropout")),
        new ModelConfig.Interaction(
            new ModelConfig.Cross(
                (int) json.integer("crossLayers"),
                integer(json, "crossRank", 0),
                integer(json, "crossExperts", 0)),
            integer(json, "heads", 1),
            json.has("pairs")
                ? ModelConfig.Pairs.valueOf(json.text("pairs"))
                : ModelConfig.Pairs.SLOTS,
            json.has("attention") ? sizes(json, "attention") : ModelConfig.Interaction.ATTENTION,
            json.has("matching") ? matching(json.object("matching")) : Matching.DEFAULT,
            json.has(WIDE_ONLY)
                ? new WideDeep(names(json, WIDE_ONLY), names(json, DEEP_ONLY))
                : WideDeep.BOTH,
            json.has("variant") ? variant(json.object("variant")) : Variant.of(type)),
        json.has("towers") ? towers(json.object("towers")) : Towers.DEFAULT);
  }

  private static Widths widths(Json.Obj json) {
    Widths widths = Widths.of((int) json.integer("embedding"));
    if (json.has(EMBEDDINGS)) {
      Json.Obj own = json.object(EMBEDDINGS);
      for (String slot : own.fields().keySet()) {
        widths = widths.with(slot, Math.toIntExact(own.integer(slot)));
      }
    }
    return widths;
  }

  private static int integer(Json.Obj json, String key, int otherwise) {
    return json.has(key) ? (int) json.integer(key) : otherwise;
  }

  private static List<Integer> sizes(Json.Obj json, String key) {
    return json.array(key).stream()
        .map(item -> item instanceof Json.Int(long value) ? Math.toIntExact(value) : 0)
        .toList();
  }
}
