package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * DLRM (Naumov et al., "Deep Learning Recommendation Model for Personalization and Recommendation
 * Systems", 2019, arXiv:1906.00091). A bottom network turns the dense numbers into one more vector;
 * the top network reads this vector and the dot products of all pairs of vectors.
 */
public final class Dlrm implements Model {
  private final int width;
  private final Mlp bottom;
  private final Mlp top;
  private final Linear out;

  public Dlrm(Sizes sizes, Schema schema, Parameters parameters) {
    width = sizes.embedding();
    List<Integer> layers = new ArrayList<>(sizes.bottom());
    layers.add(width);
    Mlp.Style style = sizes.style();
    Mlp.Style kept = new Mlp.Style(style.activation(), style.batchNorm(), 0);
    bottom = new Mlp(parameters, "bottom", schema.denseDim(), layers, kept);
    int vectors = schema.slotCount() + 1;
    int joined = width + vectors * (vectors - 1) / 2;
    top = new Mlp(parameters, "top", joined, sizes.hidden(), style);
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
