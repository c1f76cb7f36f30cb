package dev.tern.nn;

import dev.tern.tensor.Shape;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;

/**
 * Explicit feature crosses. With a vector per layer, {@code c' = c0 * (c w) + b + c} (Wang et al.
 * 2017, DCN, equation 3); with a matrix, {@code c' = c0 * (c W + b) + c} (Wang et al. 2021, DCN-V2,
 * equation 1).
 */
public final class CrossNetwork {
  private record Layer(Variable weight, Variable bias) {}

  private final List<Layer> layers = new ArrayList<>();
  private final boolean matrices;

  private CrossNetwork(Parameters parameters, String name, int width, int count, boolean matrices) {
    this.matrices = matrices;
    float range = (float) (1 / Math.sqrt(Math.max(1, width)));
    for (int i = 0; i < count; i++) {
      Shape shape = Shape.of(width, matrices ? width : 1);
      layers.add(
          new Layer(
              parameters.uniform(name + "." + i + ".weight", shape, range),
              parameters.uniform(name + "." + i + ".bias", Shape.of(width), range)));
    }
  }

  /** DCN: one weight vector a layer. */
  public static CrossNetwork vectors(Parameters parameters, String name, int width, int layers) {
    return new CrossNetwork(parameters, name, width, layers, false);
  }

  /** DCN-V2: one full matrix a layer. */
  public static CrossNetwork matrices(Parameters parameters, String name, int width, int layers) {
    return new CrossNetwork(parameters, name, width, layers, true);
  }

  /** {@code [B, width]} to {@code [B, width]}. */
  public Tensor apply(Tensor x) {
    Tensor cross = x;
    for (Layer layer : layers) {
      Tensor product = cross.matmul(layer.weight().tensor());
      Tensor bias = layer.bias().tensor();
      cross = matrices ? x.mul(product.add(bias)).add(cross) : x.mul(product).add(bias).add(cross);
    }
    return cross;
  }
}
