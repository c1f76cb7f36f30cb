package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.CrossNetwork;
import dev.tern.nn.CrossNetwork.Experts;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * Deep and cross network, the cross part beside the deep part. DCN (Wang et al., "Deep & Cross
 * Network for Ad Click Predictions", 2017) crosses with weight vectors. DCN-V2 (Wang et al., WWW
 * 2021) crosses with matrices: full ones, of low rank, or a mixture of experts of low rank.
 */
final class DeepCross implements Model {
  private final SlotWidths widths;
  private final CrossNetwork cross;
  private final Mlp deep;
  private final Linear out;

  DeepCross(ModelConfig config, Schema schema, Parameters parameters) {
    widths = SlotWidths.of(config.widths(), schema);
    int flat = widths.flat(schema);
    cross = cross(config, parameters, flat);
    deep = new Mlp(parameters, "deep", flat, config.hidden(), config.style());
    out = new Linear(parameters, "out", flat + deep.outputs(), 1);
  }

  private static CrossNetwork cross(ModelConfig config, Parameters parameters, int flat) {
    int layers = config.cross().layers();
    int rank = config.cross().rank();
    int experts = config.cross().experts();
    if (config.type() == ModelConfig.Type.DCN) {
      return CrossNetwork.vectors(parameters, "cross", flat, layers);
    }
    if (rank == 0) {
      return CrossNetwork.matrices(parameters, "cross", flat, layers);
    }
    return experts == 0
        ? CrossNetwork.lowRank(parameters, "cross", flat, layers, rank)
        : CrossNetwork.mixture(parameters, "cross", flat, layers, new Experts(experts, rank));
  }

  @Override
  public int embeddingWidth() {
    return widths.all();
  }

  @Override
  public int embeddingWidth(String table) {
    return widths.of(table);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor flat = x.flat(x.embedded());
    Tensor both = Tensor.concat(1, List.of(cross.apply(flat), deep.apply(flat, x.pass())));
    return out.apply(both).reshape(-1);
  }
}
