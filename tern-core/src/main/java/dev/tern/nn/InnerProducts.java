package dev.tern.nn;

import dev.tern.tensor.Tensor;

/** Dot products of all pairs of slots' vectors, as input of a network (Qu et al. 2016, PNN). */
public final class InnerProducts {
  private InnerProducts() {}

  /** Number of pairs of {@code slots} vectors: 3 slots have 3 pairs, 4 have 6. */
  public static int pairs(int slots) {
    return slots * (slots - 1) / 2;
  }

  /**
   * {@code [B, S, D]} to {@code [B, S (S - 1) / 2]}, pairs in the order (1,0), (2,0), (2,1), (3,0),
   * ...
   */
  public static Tensor of(Tensor vectors) {
    return vectors.dotInteraction();
  }
}
