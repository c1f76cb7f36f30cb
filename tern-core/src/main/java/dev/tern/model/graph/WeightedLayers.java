package dev.tern.model.graph;

import static dev.tern.model.graph.GraphFunction.require;

import dev.tern.base.Shape;
import dev.tern.nn.BatchNorm;
import dev.tern.nn.CrossNetwork;
import dev.tern.nn.Dice;
import dev.tern.nn.Linear;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Layers with parameters or statistics. */
final class WeightedLayers {
  private WeightedLayers() {}

  /** Makes a layer's parameters; empty for a layer without. */
  static Optional<GraphFunction> make(GraphLayer layer, List<Shape> inputs, Parameters parameters) {
    Shape input = inputs.getFirst();
    return Optional.ofNullable(
        switch (layer.op()) {
          case LINEAR -> linear(parameters, layer.name(), input, layer.whole("outputs"), true);
          case MLP -> mlp(layer, input, parameters);
          case CROSS -> cross(layer, input, parameters);
          case BATCH_NORM -> batchNorm(layer, input, parameters);
          case LAYER_NORM -> layerNorm(layer, input, parameters);
          case DICE -> dice(layer, input, parameters);
          case SLOT_WEIGHTS -> slotWeights(layer, input, parameters);
          case DROPOUT, RELU, ELU, SIGMOID, ADD, SUBTRACT, MULTIPLY, MATMUL -> null;
          case CONCAT, SLICE, RESHAPE, PICK, SUM, MEAN, REPEAT, SOFTMAX, SEQUENCE_MASK -> null;
          case ATTENTION, PAIR_VECTORS, INTERACTION, JOIN_SLOTS, COPY -> null;
        });
  }

  private static GraphFunction linear(
      Parameters parameters, String name, Shape input, int outputs, boolean bias) {
    require(input.rank() >= 2, input, "[.., n]");
    int width = input.size(-1);
    Linear linear = new Linear(parameters, name, width, outputs, bias);
    return GraphFunction.of(x -> {
      if (x.shape().rank() == 2) {
        return linear.apply(x);
      }
      int[] sizes = x.shape().toArray();
      sizes[sizes.length - 1] = outputs;
      return linear.apply(x.reshape(-1, width)).reshape(sizes);
    });
  }

  private static GraphFunction mlp(GraphLayer layer, Shape input, Parameters parameters) {
    List<Integer> outputs = layer.wholes("outputs");
    List<Boolean> relu = layer.flags("relu");
    List<Boolean> bias = layer.flags("bias");
    List<GraphFunction> layers = new ArrayList<>();
    Shape shape = input;
    for (int i = 0; i < outputs.size(); i++) {
      String name = layer.name() + "." + i;
      layers.add(linear(parameters, name, shape, outputs.get(i), bias.get(i)));
      shape = shape.withSize(-1, outputs.get(i));
    }
    return (in, pass) -> {
      List<Tensor> x = in;
      for (int i = 0; i < layers.size(); i++) {
        x = layers.get(i).apply(x, pass);
        x = relu.get(i) ? List.of(x.getFirst().relu()) : x;
      }
      return x;
    };
  }

  private static GraphFunction cross(GraphLayer layer, Shape input, Parameters parameters) {
    requireMatrix(input);
    int layers = layer.whole("layers");
    int rank = layer.whole("rank");
    int width = input.size(1);
    CrossNetwork cross =
        rank == 0
            ? CrossNetwork.vectors(parameters, layer.name(), width, layers)
            : CrossNetwork.lowRank(parameters, layer.name(), width, layers, rank);
    return GraphFunction.of(cross::apply);
  }

  private static GraphFunction batchNorm(GraphLayer layer, Shape input, Parameters parameters) {
    requireMatrix(input);
    BatchNorm norm =
        new BatchNorm(
            parameters, layer.name(), input.size(1), layer.real("share"), layer.real("epsilon"));
    return (in, pass) -> List.of(norm.apply(in.getFirst(), pass));
  }

  private static GraphFunction layerNorm(GraphLayer layer, Shape input, Parameters parameters) {
    require(input.rank() >= 2, input, "[.., n]");
    Shape width = Shape.of(input.size(-1));
    Variable gamma = parameters.full(layer.name() + ".gamma", width, 1);
    Variable beta = parameters.full(layer.name() + ".beta", width, 0);
    float epsilon = layer.real("epsilon");
    return GraphFunction.of(x -> x.layerNorm(gamma.tensor(), beta.tensor(), epsilon));
  }

  private static GraphFunction dice(GraphLayer layer, Shape input, Parameters parameters) {
    requireMatrix(input);
    Dice.Fixed rule =
        new Dice.Fixed(layer.real("alpha"), layer.real("epsilon"), layer.real("share"));
    Dice dice = Dice.fixed(parameters, layer.name(), input.size(1), rule);
    return (in, pass) -> List.of(dice.apply(in.getFirst(), pass));
  }

  private static GraphFunction slotWeights(GraphLayer layer, Shape input, Parameters parameters) {
    int slots = layer.whole("slots");
    int width = layer.whole("width");
    require(input.rank() == 2 && input.size(1) == slots, input, "[B, " + slots + "]");
    float range = (float) (1 / Math.sqrt(slots));
    Variable weights = parameters.uniform(layer.name() + ".weight", Shape.of(slots, width), range);
    return GraphFunction.of(
        x -> x.reshape(-1, slots, 1).mul(weights.tensor()).reshape(-1, slots * width));
  }

  private static void requireMatrix(Shape input) {
    require(input.rank() == 2, input, "[B, n]");
  }
}
