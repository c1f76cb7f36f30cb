package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/** Wide and deep (Cheng et al., "Wide & Deep Learning for Recommender Systems", 2016). */
final class WideAndDeep extends LinearModel {
  private final SlotWidths widths;
  private final Mlp deep;
  private final Linear out;

  WideAndDeep(
      Widths widths, List<Integer> hidden, Mlp.Style style, Schema schema, Parameters parameters) {
    super(widths.all(), schema, parameters, "wide");
    this.widths = SlotWidths.of(widths, schema);
    deep = new Mlp(parameters, "deep", this.widths.flat(schema), hidden, style);
    out = new Linear(parameters, "out", deep.outputs(), 1);
  }

  @Override
  public int embeddingWidth(String table) {
    return 1 + widths.of(table);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor hidden = deep.apply(x.flat(x.embedded(1)), x.pass());
    return super.logits(x).add(out.apply(hidden).reshape(-1));
  }
}
