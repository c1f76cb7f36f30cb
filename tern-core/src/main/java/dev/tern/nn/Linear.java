package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;
import java.util.Optional;

/**
 * {@code x W + b}. Weights and bias start uniform in {@code +-1 / sqrt(inputs)}, PyTorch's default.
 */
public final class Linear {
  private final Variable weight;
  private final Optional<Variable> bias;

  /** A layer from {@code inputs} to {@code outputs} numbers a row. */
  public Linear(Parameters parameters, String name, int inputs, int outputs) {
    this(parameters, name, inputs, outputs, true);
  }

  /** A layer with or without {@code b}: a normalization behind it would remove {@code b}. */
  public Linear(Parameters parameters, String name, int inputs, int outputs, boolean hasBias) {
    float range = (float) (1 / Math.sqrt(Math.max(1, inputs)));
    weight = parameters.uniform(name + ".weight", Shape.of(inputs, outputs), range);
    bias =
        hasBias
            ? Optional.of(parameters.uniform(name + ".bias", Shape.of(outputs), range))
            : Optional.empty();
  }

  /**
   * Several layers over one input, in one product: {@code [B, inputs]} to their outputs side by
   * side. Either all of them have a bias or none has.
   */
  static Tensor sideBySide(List<Linear> layers, Tensor x) {
    Tensor weights = Tensor.concat(1, layers.stream().map(l -> l.weight.tensor()).toList());
    Tensor product = x.matmul(weights);
    return layers.getFirst().bias.isEmpty()
        ? product
        : product.add(
            Tensor.concat(0, layers.stream().map(l -> l.bias.orElseThrow().tensor()).toList()));
  }

  /** Numbers that come out for a row. */
  int outputs() {
    return weight.shape().size(1);
  }

  /** {@code [B, inputs]} to {@code [B, outputs]}. */
  public Tensor apply(Tensor x) {
    Tensor product = x.matmul(weight.tensor());
    return bias.isPresent() ? product.add(bias.get().tensor()) : product;
  }
}
