package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * DLRM (Naumov et al., "Deep Learning Recommendation Model for Personalization and Recommendation
 * Systems", 2019, arXiv:1906.00091). A bottom network turns the dense numbers into one more vector;
 * the top network reads this vector and the dot products of all pairs of vectors.
 */
final class Dlrm implements Model {
  private final int width;
  private final Mlp bottom;
  private final Mlp top;
  private final Linear out;

  Dlrm(ModelConfig config, Schema schema, Parameters parameters) {
    width = config.embedding();
    List<Integer> sizes = new ArrayList<>(config.bottom());
    sizes.add(width);
    Mlp.Style style = config.style();
    Mlp.Style kept = new Mlp.Style(style.activation(), style.batchNorm(), 0);
    bottom = new Mlp(parameters, "bottom", schema.denseDim(), sizes, kept);
    int vectors = schema.slotCount() + 1;
    int joined = width + vectors * (vectors - 1) / 2;
    top = new Mlp(parameters, "top", joined, config.hidden(), style);
    out = new Linear(parameters, "out", top.outputs(), 1);
  }

  @Override
  public int embeddingWidth() {
    return width;
  }

  @Override
  public Tensor logits(Features x) {
    int batch = x.dense().shape().size(0);
    Tensor z = bottom.apply(x.dense(), x.pass());
    Tensor vectors = Tensor.concat(1, List.of(z.reshape(batch, 1, width), x.embedded()));
    Tensor joined = Tensor.concat(1, List.of(z, vectors.dotInteraction()));
    return out.apply(top.apply(joined, x.pass())).reshape(-1);
  }
}
