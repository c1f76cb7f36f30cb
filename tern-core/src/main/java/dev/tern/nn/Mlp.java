package dev.tern.nn;

import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/** Hidden layers: linear, ReLU, dropout, each after the other. */
public final class Mlp {
  private final List<Linear> layers = new ArrayList<>();
  private final float dropout;
  private final int outputs;

  /**
   * @param hidden outputs of each layer; none gives the input back
   * @param dropout share of each layer's outputs dropped in training, 0 or more and below 1
   */
  public Mlp(Parameters parameters, String name, int inputs, List<Integer> hidden, float dropout) {
    int width = inputs;
    for (int size : hidden) {
      layers.add(new Linear(parameters, name + "." + layers.size(), width, size));
      width = size;
    }
    this.dropout = dropout;
    outputs = width;
  }

  /** Numbers a row of the last layer. */
  public int outputs() {
    return outputs;
  }

  /** {@code [B, inputs]} to {@code [B, outputs]}. */
  public Tensor apply(Tensor x, Noise noise) {
    Tensor result = x;
    for (Linear layer : layers) {
      result = noise.dropout(layer.apply(result).relu(), dropout);
    }
    return result;
  }
}
