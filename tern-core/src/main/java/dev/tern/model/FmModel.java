package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;

/**
 * Factorization machine (Rendle, "Factorization Machines", ICDM 2010): the linear part plus the dot
 * products of all pairs of vectors.
 *
 * <p>With {@link ModelConfig.Pairs#FEATURES} these are the pairs of all features of a row. Example:
 * a row with features {@code a}, {@code b} in one slot and {@code c} in another has {@code a . b +
 * (a + b) . c}. With {@link ModelConfig.Pairs#SLOTS} they are the pairs of slots: {@code (a + b) .
 * c}.
 */
final class FmModel extends LinearModel {
  private final boolean within;

  FmModel(ModelConfig config, Schema schema, Parameters parameters) {
    super(config.embedding(), schema, parameters, "linear");
    within = config.pairsWithin(schema);
  }

  @Override
  public boolean pairsWithin() {
    return within;
  }

  @Override
  public Tensor logits(Features x) {
    return pairs(x, super.logits(x));
  }

  /** Adds the dot products of pairs to {@code logits}. */
  static Tensor pairs(Features x, Tensor logits) {
    Tensor sum = logits.add(x.embedded(1).pairSums());
    return x.within().map(slots -> sum.add(slots.sum(1))).orElse(sum);
  }
}
