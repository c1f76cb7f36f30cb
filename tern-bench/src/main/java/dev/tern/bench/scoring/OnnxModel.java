package dev.tern.bench.scoring;

import dev.tern.bench.rows.CriteoLike;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A network's model without its tables as a graph of ONNX. Its inputs are the dense numbers and
 * what a lookup gives: a weight for each slot where the model has these, and the vectors.
 */
final class OnnxModel {
  private final Map<String, float[]> parameters;
  private final ModelConfig config;
  private final int slots;
  private final OnnxGraph graph = new OnnxGraph();

  private OnnxModel(Network network, ModelConfig config) {
    parameters =
        network.parameters().stream().collect(Collectors.toMap(Variable::name, Variable::toArray));
    this.config = config;
    slots = network.schema().slotCount();
  }

  /** The file of the model's logits. */
  static byte[] of(Network network, ModelConfig config) {
    OnnxModel model = new OnnxModel(network, config);
    String logits =
        switch (config.type()) {
          case DEEPFM -> model.wideAndDeep("linear", true);
          case WDL -> model.wideAndDeep("wide", false);
          case DLRM -> model.dlrm();
          default ->
              throw new IllegalArgumentException(
                  "score: got " + config.type() + ", expected deepfm, wdl or dlrm");
        };
    return model.graph.file(logits);
  }

  private String wideAndDeep(String wide, boolean pairs) {
    int width = config.embedding();
    String dense = graph.input("dense", CriteoLike.DENSE);
    String weights = graph.input("part0", slots);
    String vectors = graph.input("part1", slots * width);
    String flat = graph.node("Concat", List.of(vectors, dense), "axis", 1);
    String logits = graph.node("Add", layer(wide, dense), sumOfRow(weights));
    logits = graph.node("Add", logits, layer("out", hidden("deep", config.hidden(), flat)));
    return pairs ? graph.node("Add", logits, pairs(vectors, width)) : logits;
  }

  /** {@code [rows, n]} to {@code [rows, 1]}. */
  private String sumOfRow(String x) {
    return graph.node("ReduceSum", List.of(x, graph.integers(1)), "keepdims", 1);
  }

  /** Half of the square of sums less the sum of squares: the dot products of all pairs. */
  private String pairs(String vectors, int width) {
    String all = graph.node("Reshape", vectors, graph.integers(-1, slots, width));
    String sums = graph.sum(all, 1);
    String squares = graph.sum(graph.node("Mul", all, all), 1);
    String twice = graph.node("Sub", graph.node("Mul", sums, sums), squares);
    return graph.node("Mul", sumOfRow(twice), graph.floats(new float[] {0.5f}, 1));
  }

  private String dlrm() {
    int width = config.embedding();
    String dense = graph.input("dense", CriteoLike.DENSE);
    String vectors = graph.input("part0", slots * width);
    List<Integer> sizes = new ArrayList<>(config.bottom());
    sizes.add(width);
    String z = hidden("bottom", sizes, dense);
    int n = slots + 1;
    String flat = graph.node("Concat", List.of(z, vectors), "axis", 1);
    String all = graph.node("Reshape", flat, graph.integers(-1, n, width));
    String dots = graph.node("MatMul", all, graph.transposed(all, 0, 2, 1));
    String square = graph.node("Reshape", dots, graph.integers(-1, (long) n * n));
    String kept = graph.node("Gather", List.of(square, graph.integers(below(n))), "axis", 1);
    String joined = graph.node("Concat", List.of(z, kept), "axis", 1);
    return layer("out", hidden("top", config.hidden(), joined));
  }

  /** Where the dot products of each vector with those before it lie in a square of {@code n}. */
  private static long[] below(int n) {
    long[] places = new long[n * (n - 1) / 2];
    int at = 0;
    for (int i = 1; i < n; i++) {
      for (int j = 0; j < i; j++) {
        places[at++] = (long) i * n + j;
      }
    }
    return places;
  }

  private String hidden(String name, List<Integer> sizes, String x) {
    String result = x;
    for (int i = 0; i < sizes.size(); i++) {
      result = graph.node("Relu", layer(name + "." + i, result));
    }
    return result;
  }

  private String layer(String name, String x) {
    return graph.linear(x, parameter(name + ".weight"), parameter(name + ".bias"));
  }

  private float[] parameter(String name) {
    float[] values = parameters.get(name);
    if (values == null) {
      throw new IllegalStateException(
          "score: got no parameter " + name + ", expected one of " + parameters.keySet());
    }
    return values;
  }
}
