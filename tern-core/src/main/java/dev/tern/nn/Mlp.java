package dev.tern.nn;

import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Hidden layers: linear, batch normalization if asked for, activation, dropout, in this order.
 * Before batch normalization the linear part has no bias.
 */
public final class Mlp {
  /**
   * What hidden layers have beside their linear part.
   *
   * @param activation follows the linear part, or the batch normalization
   * @param batchNorm whether {@link BatchNorm} stands before the activation
   * @param dropout share of each layer's outputs dropped in training, 0 or more and below 1
   */
  public record Style(Activation activation, boolean batchNorm, float dropout) {
    /** ReLU and dropout. */
    public static Style relu(float dropout) {
      return new Style(Activation.RELU, false, dropout);
    }
  }

  private record Layer(Linear linear, Optional<BatchNorm> norm, Activation.Function activation) {}

  private final List<Layer> layers = new ArrayList<>();
  private final float dropout;
  private final int outputs;

  /**
   * @param hidden outputs of each layer; none gives the input back
   */
  public Mlp(Parameters parameters, String name, int inputs, List<Integer> hidden, Style style) {
    int width = inputs;
    for (int size : hidden) {
      String layer = name + "." + layers.size();
      layers.add(
          new Layer(
              new Linear(parameters, layer, width, size, !style.batchNorm()),
              style.batchNorm()
                  ? Optional.of(new BatchNorm(parameters, layer + ".norm", size))
                  : Optional.empty(),
              style.activation().over(parameters, layer + ".activation", size)));
      width = size;
    }
    dropout = style.dropout();
    outputs = width;
  }

  /** Numbers a row of the last layer. */
  public int outputs() {
    return outputs;
  }

  /** {@code [B, inputs]} to {@code [B, outputs]}. */
  public Tensor apply(Tensor x, Pass pass) {
    Tensor result = x;
    for (Layer layer : layers) {
      Tensor sums = layer.linear().apply(result);
      Tensor inputs = layer.norm().isPresent() ? layer.norm().get().apply(sums, pass) : sums;
      result = pass.dropout(layer.activation().apply(inputs, pass), dropout);
    }
    return result;
  }
}
