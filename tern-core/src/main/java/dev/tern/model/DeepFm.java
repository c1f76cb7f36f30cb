package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * A factorization machine and a deep network over the same vectors (Guo et al., "DeepFM", IJCAI
 * 2017).
 */
final class DeepFm extends LinearModel {
  private final Mlp deep;
  private final Linear out;

  DeepFm(int width, List<Integer> hidden, Mlp.Style style, Schema schema, Parameters parameters) {
    super(width, schema, parameters, "linear");
    int flat = schema.slotCount() * width + schema.denseDim();
    deep = new Mlp(parameters, "deep", flat, hidden, style);
    out = new Linear(parameters, "out", deep.outputs(), 1);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor vectors = x.embedded(1);
    Tensor hidden = deep.apply(x.flat(vectors), x.pass());
    return super.logits(x).add(vectors.pairSums()).add(out.apply(hidden).reshape(-1));
  }
}
