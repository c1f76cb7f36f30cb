package dev.tern.nn;

import dev.tern.tensor.Tensor;

/** Pairwise products of embedding vectors (Rendle 2010). */
public final class FactorizationMachine {
  private FactorizationMachine() {}

  /**
   * Sum over all pairs of slots of their vectors' dot product, in the linear-time form {@code 0.5 *
   * sum((sum v)^2 - sum v^2)}: {@code [B, S, D]} to {@code [B]}.
   */
  public static Tensor secondOrder(Tensor vectors) {
    return vectors.pairSums();
  }
}
