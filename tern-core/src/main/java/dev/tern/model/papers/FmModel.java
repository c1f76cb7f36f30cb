package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.nn.Features;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * Factorization machine (Rendle, "Factorization Machines", ICDM 2010): the linear part plus the dot
 * products of all pairs of vectors.
 *
 * <p>Where features of one slot pair too ({@link Sizes#pairsWithin}) these are the pairs of all
 * features of a row. Example: a row with features {@code a}, {@code b} in one slot and {@code c} in
 * another has {@code a . b + (a + b) . c}. Else they are the pairs of slots: {@code (a + b) . c}.
 */
public final class FmModel extends LinearModel {
  private final boolean within;
  private final List<Slot> slots;

  public FmModel(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes.embedding(), schema, parameters, "linear");
    within = sizes.pairsWithin();
    slots = schema.slots();
  }

  @Override
  public boolean pairsWithin() {
    return within;
  }

  @Override
  public Tensor logits(Features x) {
    return pairs(x, slots, super.logits(x));
  }

  /** Adds the dot products of pairs to {@code logits}. */
  static Tensor pairs(Features x, List<Slot> slots, Tensor logits) {
    Tensor sum = logits.add(x.embedded(1).pairSums());
    return x.within().map(pairs -> addWithin(pairs, slots, sum)).orElse(sum);
  }

  /** Adds the pairs within slots; of a number's slot, whose ids are one feature, there are none. */
  private static Tensor addWithin(Tensor pairs, List<Slot> slots, Tensor logits) {
    if (slots.stream().noneMatch(Slot::number)) {
      return logits.add(pairs.sum(1));
    }
    Tensor sum = logits;
    int from = 0;
    for (int s = 0; s <= slots.size(); s++) {
      if (s == slots.size() || slots.get(s).number()) {
        sum = s > from ? sum.add(pairs.slice(1, from, s).sum(1)) : sum;
        from = s + 1;
      }
    }
    return sum;
  }
}
