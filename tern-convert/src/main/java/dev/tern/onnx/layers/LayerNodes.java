package dev.tern.onnx.layers;

import dev.tern.internal.onnx.SavedNode;
import dev.tern.internal.onnx.SavedTensor;
import dev.tern.model.graph.GraphOp;
import dev.tern.onnx.layers.Operand.Fixed;
import dev.tern.onnx.layers.Operand.Made;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Nodes that are layers of a network: products with weights, activations, normalizations. */
record LayerNodes(Values values) {
  /** More outputs than a layer has. */
  private static final int MOST_OUTPUTS = 1 << 24;

  private static final String WEIGHT = ".weight";

  /** Computes a node; false if it is of another kind. */
  boolean take(SavedNode node) {
    switch (node.op()) {
      case "Gemm" -> values.put(node, 0, gemm(node));
      case "MatMul" -> values.put(node, 0, product(node));
      case "Relu" -> values.put(node, 0, unary(node, GraphOp.RELU, Map.of()));
      case "Sigmoid" -> values.put(node, 0, unary(node, GraphOp.SIGMOID, Map.of()));
      case "Elu" -> {
        double alpha = node.real("alpha", 1);
        values.put(node, 0, unary(node, GraphOp.ELU, Map.of("alpha", List.of(alpha))));
      }
      case "Softmax" -> values.put(node, 0, softmax(node));
      case "BatchNormalization" -> values.put(node, 0, batchNorm(node));
      case "LayerNormalization" -> values.put(node, 0, layerNorm(node));
      default -> {
        return false;
      }
    }
    return true;
  }

  private Made unary(SavedNode node, GraphOp op, Map<String, List<Double>> numbers) {
    return values.builder().unary(node.output(), op, values.made(node, 0), numbers);
  }

  /** The name of the module whose weights a layer has, where these say it. */
  private static String name(SavedNode node, Fixed weights) {
    String tensor = weights.tensor().map(SavedTensor::name).orElse("");
    return tensor.endsWith(WEIGHT)
        ? tensor.substring(0, tensor.length() - WEIGHT.length())
        : node.output();
  }

  private Made gemm(SavedNode node) {
    node.requireInteger("transA", 0);
    if (node.real("alpha", 1) != 1 || node.real("beta", 1) != 1) {
      throw node.fault("an alpha or beta, which scales it", "1");
    }
    Made x = values.made(node, 0);
    Fixed matrix = values.fixed(node, 1);
    if (x.dims().size() != 1 || matrix.dims().size() != 2) {
      throw node.fault(
          "values of the sizes %s and %s".formatted(x.dims(), matrix.dims()),
          "numbers of a row, and weights of two sizes");
    }
    boolean turned = node.integer("transB", 0) != 0;
    int outputs = requireFit(node, x, matrix, turned);
    GraphBuilder.Weights weights = matrix(node, matrix, turned);
    String name = name(node, matrix);
    if (!node.hasInput(2)) {
      return values.builder().product(name, x, outputs, weights);
    }
    float[] bias =
        values.spread(node, values.fixed(node, 2), List.of((long) outputs), MOST_OUTPUTS);
    return values.builder().linear(name, x, outputs, weights, _ -> bias);
  }

  /** The outputs of a matrix that fits the last size of {@code x}. */
  private static int requireFit(SavedNode node, Made x, Fixed matrix, boolean turned) {
    long inputs = turned ? matrix.dims().getLast() : matrix.dims().getFirst();
    long outputs = turned ? matrix.dims().getFirst() : matrix.dims().getLast();
    if (x.dims().isEmpty()
        || x.dims().getLast() != inputs
        || outputs < 1
        || outputs > MOST_OUTPUTS) {
      throw node.fault(
          "weights of the sizes %s for a row of %s".formatted(matrix.dims(), x.dims()),
          "a row of weights for each number");
    }
    return (int) outputs;
  }

  private GraphBuilder.Weights matrix(SavedNode node, Fixed of, boolean turned) {
    GraphBuilder.Weights weights = values.weights(node, of);
    if (!turned) {
      return weights;
    }
    int outputs = of.dims().getFirst().intValue();
    int inputs = of.dims().getLast().intValue();
    return data -> {
      float[] rows = weights.read(data);
      float[] turnedRows = new float[rows.length];
      for (int o = 0; o < outputs; o++) {
        for (int i = 0; i < inputs; i++) {
          turnedRows[i * outputs + o] = rows[o * inputs + i];
        }
      }
      return turnedRows;
    };
  }

  private Made product(SavedNode node) {
    Made x = values.made(node, 0);
    if (!(values.get(node, 1) instanceof Fixed matrix)) {
      return values.builder().matrices(node.output(), x, values.made(node, 1));
    }
    boolean vector = matrix.dims().size() == 1;
    if (!vector && matrix.dims().size() != 2) {
      throw node.fault("weights of the sizes " + matrix.dims(), "one size or two");
    }
    List<Long> sizes = vector ? List.of(matrix.dims().getFirst(), 1L) : matrix.dims();
    Fixed two = new Fixed(sizes, matrix.tensor(), matrix.number());
    int outputs = requireFit(node, x, two, false);
    Made y = values.builder().product(name(node, matrix), x, outputs, values.weights(node, matrix));
    return vector ? y.as(y.dims().subList(0, y.dims().size() - 1)) : y;
  }

  private Made softmax(SavedNode node) {
    Made x = values.made(node, 0);
    long axis = node.integer("axis", -1);
    if (x.dims().isEmpty() || axis != -1 && axis != x.dims().size()) {
      throw node.fault("the axis " + axis, "the last one, of a row's numbers");
    }
    return unary(node, GraphOp.SOFTMAX, Map.of("factor", List.of(1.0)));
  }

  private Made batchNorm(SavedNode node) {
    node.requireInteger("training_mode", 0);
    Made x = values.made(node, 0);
    if (x.dims().size() != 1) {
      throw node.fault("a value of the sizes " + x.dims(), "one size, of a row's numbers");
    }
    Map<String, List<Double>> numbers =
        Map.of(
            "share", List.of((double) (1 - node.real("momentum", 0.9f))),
            "epsilon", List.of((double) node.real("epsilon", 1e-5f)));
    Map<String, GraphBuilder.Weights> parameters = new LinkedHashMap<>();
    List<String> names = List.of(".gamma", ".beta", ".mean", ".variance");
    for (int i = 0; i < names.size(); i++) {
      float[] own = values.spread(node, values.fixed(node, i + 1), x.dims(), MOST_OUTPUTS);
      parameters.put(names.get(i), _ -> own);
    }
    String name = name(node, values.fixed(node, 1));
    return values.builder().norm(name, GraphOp.BATCH_NORM, x, numbers, parameters);
  }

  private Made layerNorm(SavedNode node) {
    Made x = values.made(node, 0);
    long axis = node.integer("axis", -1);
    if (x.dims().isEmpty() || axis != -1 && axis != x.dims().size()) {
      throw node.fault("the axis " + axis, "the last one, of a row's numbers");
    }
    List<Long> last = List.of(x.dims().getLast());
    Map<String, GraphBuilder.Weights> parameters = new LinkedHashMap<>();
    float[] gamma = values.spread(node, values.fixed(node, 1), last, MOST_OUTPUTS);
    float[] beta =
        node.hasInput(2)
            ? values.spread(node, values.fixed(node, 2), last, MOST_OUTPUTS)
            : new float[gamma.length];
    parameters.put(".gamma", _ -> gamma);
    parameters.put(".beta", _ -> beta);
    double epsilon = node.real("epsilon", 1e-5f);
    String name = name(node, values.fixed(node, 1));
    return values
        .builder()
        .norm(name, GraphOp.LAYER_NORM, x, Map.of("epsilon", List.of(epsilon)), parameters);
  }
}
