package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * Dot products of all pairs of slots' vectors, each pair with a learned weight: {@code sum_{i>j}
 * r_ij <v_i, v_j>} (Pan et al. 2018, FwFM, equation 4). Weights start at 1, where it is the second
 * order of a factorization machine, {@link Tensor#pairSums}.
 */
public final class FieldWeightedProducts {
  private final Variable weights;

  /** A layer over the vectors of {@code slots} slots. */
  public FieldWeightedProducts(Parameters parameters, String name, int slots) {
    int pairs = slots * (slots - 1) / 2;
    weights = parameters.full(name + ".weight", Shape.of(pairs, 1), 1);
  }

  /** {@code [B, S, D]} to {@code [B]}. */
  public Tensor apply(Tensor vectors) {
    return vectors.dotInteraction().matmul(weights.tensor()).reshape(-1);
  }
}
