package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * Layer normalization (Ba, Kiros and Hinton 2016): {@code gamma * (x - mean) / sqrt(variance +
 * 1e-5) + beta} with the mean and variance of each row.
 */
public final class LayerNorm {
  private static final float EPSILON = 1e-5f;

  private final Variable gamma;
  private final Variable beta;

  /** A layer over rows of {@code width} numbers, that only standardizes at first. */
  public LayerNorm(Parameters parameters, String name, int width) {
    gamma = parameters.full(name + ".gamma", Shape.of(width), 1);
    beta = parameters.full(name + ".beta", Shape.of(width), 0);
  }

  /** {@code [..., width]} to the same shape. */
  public Tensor apply(Tensor x) {
    return x.layerNorm(gamma.tensor(), beta.tensor(), EPSILON);
  }
}
