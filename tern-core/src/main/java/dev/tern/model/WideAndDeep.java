package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/** Wide and deep (Cheng et al., "Wide & Deep Learning for Recommender Systems", 2016). */
final class WideAndDeep extends LinearModel {
  private final Mlp deep;
  private final Linear out;

  WideAndDeep(
      int width, List<Integer> hidden, Mlp.Style style, Schema schema, Parameters parameters) {
    super(width, schema, parameters, "wide");
    int flat = schema.slotCount() * width + schema.denseDim();
    deep = new Mlp(parameters, "deep", flat, hidden, style);
    out = new Linear(parameters, "out", deep.outputs(), 1);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor hidden = deep.apply(x.flat(x.embedded(1)), x.pass());
    return super.logits(x).add(out.apply(hidden).reshape(-1));
  }
}
