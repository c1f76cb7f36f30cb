package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * ReLU with a learned slope {@code a} for each column on its negative side: {@code x} where {@code
 * x > 0}, else {@code a x} (He et al. 2015, equation 1). Slopes start at 0.25.
 */
public final class Prelu {
  private final Variable slope;

  /** A layer over {@code width} columns. */
  public Prelu(Parameters parameters, String name, int width) {
    slope = parameters.full(name + ".slope", Shape.of(width), 0.25f);
  }

  /** {@code [B, width]} to {@code [B, width]}. */
  public Tensor apply(Tensor x) {
    return x.gt(Tensor.scalar(0)).select(x, x.mul(slope.tensor()));
  }
}
