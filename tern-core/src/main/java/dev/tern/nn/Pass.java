package dev.tern.nn;

import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * One forward pass: for scoring or for training, and what differs between them. Every dropout layer
 * draws from a stream of its own, in the order in which the model applies them; layers with moving
 * statistics leave their new values here, to be stored at the end of the step.
 */
public final class Pass {
  private final Optional<Variable> seed;
  private final Map<Variable, Tensor> updates = new LinkedHashMap<>();
  private int streams;

  private Pass(Optional<Variable> seed) {
    this.seed = seed;
  }

  /** No randomness, statistics as they are. */
  public static Pass scoring() {
    return new Pass(Optional.empty());
  }

  /** With {@code seed} (I64, one element), which is set anew before each step. */
  public static Pass training(Variable seed) {
    return new Pass(Optional.of(seed));
  }

  /** Whether statistics are those of the batch and dropout drops. */
  public boolean isTraining() {
    return seed.isPresent();
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

  /** What {@code statistic} (see {@link Parameters#statistic}) holds after this training step. */
  public void update(Variable statistic, Tensor value) {
    if (!isTraining()) {
      throw new IllegalStateException(
          statistic.name() + ": got an update while scoring, expected one while training");
    }
    if (updates.putIfAbsent(statistic, value) != null) {
      throw new IllegalStateException(
          statistic.name()
              + ": got a second update in one pass, expected one; give each place that it is"
              + " applied at a layer of its own");
    }
  }

  /** The new values of all statistics updated so far. */
  public Map<Variable, Tensor> updates() {
    return Collections.unmodifiableMap(updates);
  }
}
