package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * A factorization machine and a deep network over the same vectors (Guo et al., "DeepFM", IJCAI
 * 2017). The factorization machine pairs what {@link FmModel} says; the deep network reads one
 * pooled vector a slot.
 */
public final class DeepFm extends LinearModel {
  private final Mlp deep;
  private final Linear out;
  private final boolean within;
  private final List<Slot> slots;

  public DeepFm(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes.embedding(), schema, parameters, "linear");
    int flat = schema.slotCount() * sizes.embedding() + schema.denseDim();
    deep = new Mlp(parameters, "deep", flat, sizes.hidden(), sizes.style());
    out = new Linear(parameters, "out", deep.outputs(), 1);
    within = sizes.pairsWithin();
    slots = schema.slots();
  }

  @Override
  public boolean pairsWithin() {
    return within;
  }

  @Override
  public Tensor logits(Features x) {
    Tensor hidden = deep.apply(x.flat(x.embedded(1)), x.pass());
    return FmModel.pairs(x, slots, super.logits(x)).add(out.apply(hidden).reshape(-1));
  }
}
