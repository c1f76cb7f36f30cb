package dev.tern.nn;

import dev.tern.tensor.Shape;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * {@code x W + b}. Weights and bias start uniform in {@code +-1 / sqrt(inputs)}, PyTorch's default.
 */
public final class Linear {
  private final Variable weight;
  private final Variable bias;

  /** A layer from {@code inputs} to {@code outputs} numbers a row. */
  public Linear(Parameters parameters, String name, int inputs, int outputs) {
    float range = (float) (1 / Math.sqrt(Math.max(1, inputs)));
    weight = parameters.uniform(name + ".weight", Shape.of(inputs, outputs), range);
    bias = parameters.uniform(name + ".bias", Shape.of(outputs), range);
  }

  /** {@code [B, inputs]} to {@code [B, outputs]}. */
  public Tensor apply(Tensor x) {
    return x.matmul(weight.tensor()).add(bias.tensor());
  }
}
