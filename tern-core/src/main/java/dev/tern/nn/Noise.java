package dev.tern.nn;

import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.Optional;

/**
 * Randomness of one forward pass. Every dropout layer draws from a stream of its own, in the order
 * in which the model applies them; without a seed (when scoring) dropout does nothing.
 */
public final class Noise {
  private final Optional<Variable> seed;
  private int streams;

  private Noise(Optional<Variable> seed) {
    this.seed = seed;
  }

  /** For scoring: no randomness. */
  public static Noise none() {
    return new Noise(Optional.empty());
  }

  /** For training: {@code seed} (I64, one element) is set anew before each step. */
  public static Noise of(Variable seed) {
    return new Noise(Optional.of(seed));
  }

  /**
   * Inverted dropout (Srivastava et al. 2014): each element is 0 with probability {@code rate},
   * else multiplied by {@code 1 / (1 - rate)}.
   */
  public Tensor dropout(Tensor x, float rate) {
    if (!(rate >= 0 && rate < 1)) {
      throw new IllegalArgumentException(
          "dropout: got rate " + rate + ", expected 0 or more and below 1");
    }
    if (seed.isEmpty() || rate == 0) {
      return x;
    }
    Tensor kept = Tensor.uniform(seed.get(), streams++, x.shape()).ge(Tensor.scalar(rate));
    return kept.select(x.mul(1 / (1 - rate)), Tensor.scalar(0));
  }
}
