package dev.tern.nn;

import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * One forward pass, of training or of scoring. In training, each dropout layer draws from a random
 * stream of its own, numbered in the order in which the model applies them. Layers with moving
 * statistics leave the new values here, and the end of the step stores them.
 */
public final class Pass {
  private final Optional<Variable> seed;
  private final Map<Variable, Tensor> updates = new LinkedHashMap<>();
  private final Map<String, Tensor> losses = new LinkedHashMap<>();
  private int streams;

  private Pass(Optional<Variable> seed) {
    this.seed = seed;
  }

  /** A pass without dropout, with the moving statistics. */
  public static Pass scoring() {
    return new Pass(Optional.empty());
  }

  /** A training pass; {@code seed} (I64, one element) is set before each step. */
  public static Pass training(Variable seed) {
    return new Pass(Optional.of(seed));
  }

  /** Whether dropout drops, and layers take the statistics of the batch. */
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
          "dropout: got rate %s, expected 0 or more and below 1".formatted(rate));
    }
    if (seed.isEmpty() || rate == 0) {
      return x;
    }
    Tensor kept = Tensor.uniform(seed.get(), streams++, x.shape()).ge(Tensor.scalar(rate));
    return kept.select(x.mul(1 / (1 - rate)), Tensor.scalar(0));
  }

  /** Sets {@code statistic} (see {@link Parameters#statistic}) at the end of this step. */
  public void update(Variable statistic, Tensor value) {
    if (!isTraining()) {
      throw new IllegalStateException(
          "%s: got an update while scoring, expected one while training"
              .formatted(statistic.name()));
    }
    if (updates.putIfAbsent(statistic, value) != null) {
      throw new IllegalStateException(
          "%s: got a second update in one pass, expected one; give each place that it is applied at a layer of its own"
              .formatted(statistic.name()));
    }
  }

  /**
   * Adds a term to the loss that training minimizes, beside the losses of tasks: a regularizer, or
   * what a model learns by the way. While scoring there is no loss, and nothing happens.
   *
   * @param name of the term, once in a pass
   * @param loss a scalar, times its factor
   */
  public void addLoss(String name, Tensor loss) {
    if (loss.shape().elements() != 1) {
      throw new IllegalArgumentException(
          "loss %s: got %s, expected a scalar; take the mean or the sum"
              .formatted(name, loss.shape()));
    }
    if (isTraining() && losses.putIfAbsent(name, loss) != null) {
      throw new IllegalArgumentException(
          "loss %s: got a second one in one pass, expected distinct names".formatted(name));
    }
  }

  /** The terms added to the loss so far, by name. */
  public Map<String, Tensor> losses() {
    return Collections.unmodifiableMap(losses);
  }

  /** The new values of all statistics updated so far. */
  public Map<Variable, Tensor> updates() {
    return Collections.unmodifiableMap(updates);
  }
}
