package dev.tern.model.graph;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A model as a list of layers. Each reads tensors by name that inputs or layers before it make. For
 * example, a hidden layer over all columns:
 *
 * <pre>{@code
 * {"inputs": [{"name": "x", "kind": "features"}],
 *  "layers": [
 *    {"name": "hidden", "op": "linear", "in": ["x"], "outputs": 64},
 *    {"name": "active", "op": "relu", "in": ["hidden"]},
 *    {"name": "logit", "op": "linear", "in": ["active"], "outputs": 1}],
 *  "logits": ["logit"]}
 * }</pre>
 *
 * @param inputs what it reads of rows
 * @param layers in an order in which each comes behind those that it reads
 * @param logits names of the tensors that hold the logits, {@code [B, n]} each, of all tasks in
 *     order side by side
 */
public record Graph(List<GraphInput> inputs, List<GraphLayer> layers, List<String> logits) {
  /** One hidden layer of 64 over all columns, for one task. */
  public static final Graph DEFAULT =
      new Graph(
          List.of(new GraphInput("features", GraphInput.Kind.FEATURES, List.of())),
          List.of(
              GraphLayer.of("hidden", GraphOp.LINEAR, List.of("features"), outputs(64)),
              GraphLayer.of("active", GraphOp.RELU, List.of("hidden"), Map.of()),
              GraphLayer.of("logit", GraphOp.LINEAR, List.of("active"), outputs(1))),
          List.of("logit"));

  private static Map<String, List<Double>> outputs(double count) {
    return Map.of("outputs", List.of(count));
  }

  /**
   * Copies the lists.
   *
   * @throws IllegalArgumentException if a name is there twice, or a layer reads a tensor that
   *     nothing before it makes
   */
  public Graph {
    inputs = List.copyOf(inputs);
    layers = List.copyOf(layers);
    logits = List.copyOf(logits);
    Map<String, Integer> makers = makers(layers);
    Set<String> known = new HashSet<>();
    for (GraphInput input : inputs) {
      requireNew(known, input.name(), "input " + input.name());
    }
    Set<String> names = new HashSet<>();
    for (int i = 0; i < layers.size(); i++) {
      GraphLayer layer = layers.get(i);
      String where = "layer %s (%s)".formatted(layer.name(), layer.op().text());
      requireNew(names, layer.name(), where);
      for (String tensor : layer.inputs()) {
        requireKnown(known, makers, tensor, where);
      }
      for (String tensor : layer.outputs()) {
        requireNew(known, tensor, where);
      }
    }
    logits.forEach(tensor -> requireKnown(known, makers, tensor, "logits"));
    if (logits.isEmpty()) {
      throw new IllegalArgumentException("graph: got no logits, expected the tensor of one task");
    }
  }

  private static Map<String, Integer> makers(List<GraphLayer> layers) {
    Map<String, Integer> makers = new HashMap<>();
    for (int i = 0; i < layers.size(); i++) {
      for (String tensor : layers.get(i).outputs()) {
        makers.put(tensor, i);
      }
    }
    return makers;
  }

  private static void requireNew(Set<String> known, String name, String where) {
    if (name.isEmpty() || !known.add(name)) {
      throw new IllegalArgumentException(
          "graph: %s: got the name \"%s\" %s, expected distinct names; give it another one"
              .formatted(where, name, name.isEmpty() ? "of no letters" : "a second time"));
    }
  }

  private static void requireKnown(
      Set<String> known, Map<String, Integer> makers, String tensor, String where) {
    if (!known.contains(tensor)) {
      throw new IllegalArgumentException(
          makers.containsKey(tensor)
              ? "graph: %s: got the tensor %s, which layer number %d makes, itself or behind it, expected one from before; put layers in the order of their inputs, which have no circle"
                  .formatted(where, tensor, makers.get(tensor))
              : "graph: %s: got the tensor %s, which nothing makes, expected one of %s"
                  .formatted(where, tensor, some(known)));
    }
  }

  private static List<String> some(Set<String> known) {
    return known.stream().sorted().limit(20).toList();
  }

  /**
   * Reads a graph from JSON, as {@link #text} writes it. {@code out} of a layer may be left out
   * where its name is its output.
   *
   * @param source what errors call the text: usually the name of a file
   * @throws dev.tern.base.DataException if it is not such JSON
   * @throws IllegalArgumentException if it is no graph
   */
  public static Graph parse(String json, String source) {
    return GraphJson.read(json, source);
  }

  /** This graph as JSON on one line. */
  public String text() {
    return GraphJson.write(this).toString();
  }

  /** This graph as JSON with a line for each layer. */
  public String lines() {
    return GraphJson.lines(this);
  }
}
