package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.CrossNetwork;
import dev.tern.nn.CrossNetwork.Experts;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * Deep and cross network, the cross part beside the deep part. DCN (Wang et al., "Deep & Cross
 * Network for Ad Click Predictions", 2017) crosses with weight vectors. DCN-V2 (Wang et al., WWW
 * 2021) crosses with matrices: full ones, of low rank, or a mixture of experts of low rank.
 */
public final class DeepCross implements Model {
  private final SlotWidths widths;
  private final CrossNetwork cross;
  private final Mlp deep;
  private final Linear out;

  private DeepCross(Sizes sizes, CrossNetwork cross, Schema schema, Parameters parameters) {
    widths = sizes.widths();
    int flat = widths.flat(schema);
    this.cross = cross;
    deep = new Mlp(parameters, "deep", flat, sizes.hidden(), sizes.style());
    out = new Linear(parameters, "out", flat + deep.outputs(), 1);
  }

  /** DCN. */
  public static DeepCross vectors(Sizes sizes, Schema schema, Parameters parameters) {
    int flat = sizes.widths().flat(schema);
    int layers = sizes.cross().layers();
    CrossNetwork cross = CrossNetwork.vectors(parameters, "cross", flat, layers);
    return new DeepCross(sizes, cross, schema, parameters);
  }

  /** DCN-V2. */
  public static DeepCross matrices(Sizes sizes, Schema schema, Parameters parameters) {
    CrossNetwork cross = matrices(sizes.cross(), parameters, sizes.widths().flat(schema));
    return new DeepCross(sizes, cross, schema, parameters);
  }

  /** Cross layers over {@code width} numbers with the matrices that {@code cross} says. */
  static CrossNetwork matrices(Sizes.Cross cross, Parameters parameters, int width) {
    int layers = cross.layers();
    int rank = cross.rank();
    int experts = cross.experts();
    if (rank == 0) {
      return CrossNetwork.matrices(parameters, "cross", width, layers);
    }
    return experts == 0
        ? CrossNetwork.lowRank(parameters, "cross", width, layers, rank)
        : CrossNetwork.mixture(parameters, "cross", width, layers, new Experts(experts, rank));
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
