package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.CrossNetwork;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * Deep and cross network, the cross part beside the deep part: DCN (Wang et al., "Deep & Cross
 * Network for Ad Click Predictions", 2017) with weight vectors, DCN-V2 (Wang et al., WWW 2021) with
 * matrices.
 */
final class DeepCross implements Model {
  private final int width;
  private final CrossNetwork cross;
  private final Mlp deep;
  private final Linear out;

  DeepCross(ModelConfig config, Schema schema, Parameters parameters, boolean matrices) {
    width = config.embedding();
    int flat = schema.slotCount() * width + schema.denseDim();
    cross =
        matrices
            ? CrossNetwork.matrices(parameters, "cross", flat, config.crossLayers())
            : CrossNetwork.vectors(parameters, "cross", flat, config.crossLayers());
    deep = new Mlp(parameters, "deep", flat, config.hidden(), config.dropout());
    out = new Linear(parameters, "out", flat + deep.outputs(), 1);
  }

  @Override
  public int embeddingWidth() {
    return width;
  }

  @Override
  public Tensor logits(Features x) {
    Tensor flat = x.flat(x.embedded());
    Tensor both = Tensor.concat(1, List.of(cross.apply(flat), deep.apply(flat, x.noise())));
    return out.apply(both).reshape(-1);
  }
}
