package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * xDeepFM (Lian et al., "xDeepFM: Combining Explicit and Implicit Feature Interactions for
 * Recommender Systems", KDD 2018, arXiv:1803.05170): a linear part, hidden layers, and a compressed
 * interaction network (CIN), each of whose layers crosses the vectors of the layer before with
 * those of the slots.
 *
 * <pre>
 * X0 = (e_1, ..., e_S),   Xk_h = sum over i, j of Wk_h,ij (X(k-1)_i * X0_j),   h = 1 .. H
 * logit = linear + mlp([e_1; ...; e_S; numbers]) + w [p1; ...; pK],   pk_h = sum of the numbers of Xk_h
 * </pre>
 *
 * <p>{@code H} is {@link Sizes#vectors}. As in the paper's experiments a layer has no activation
 * and no bias. For example, with the slots (1, 2) and (3, 4) and a map that takes their product
 * alone, X1 = (3, 8) and p1 = 11.
 */
public final class CompressedInteractions extends LinearModel {
  private final List<Linear> maps = new ArrayList<>();
  private final Linear pooled;
  private final Deep deep;

  public CompressedInteractions(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes.embedding(), schema, parameters, "linear");
    int before = schema.slotCount();
    for (int k = 0; k < sizes.cross().layers(); k++) {
      int inputs = before * schema.slotCount();
      maps.add(new Linear(parameters, "cross." + k, inputs, sizes.vectors(), false));
      before = sizes.vectors();
    }
    pooled = new Linear(parameters, "cross.out", maps.size() * sizes.vectors(), 1, false);
    deep = new Deep(sizes, sizes.widths().flat(schema), parameters);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor vectors = x.embedded(1);
    int batch = vectors.shape().size(0);
    int slots = vectors.shape().size(1);
    int width = vectors.shape().size(2);
    // Numbers of one place of all vectors side by side: one row for each place.
    Tensor start = vectors.transpose(1, 2).reshape(batch * width, 1, slots);
    Tensor last = start.reshape(batch * width, slots);
    List<Tensor> sums = new ArrayList<>();
    for (Linear map : maps) {
      int before = last.shape().size(1);
      Tensor crossed = last.reshape(batch * width, before, 1).mul(start);
      last = map.apply(crossed.reshape(batch * width, before * slots));
      sums.add(last.reshape(batch, width, last.shape().size(1)).sum(1));
    }
    Tensor logit = super.logits(x).add(deep.logit(x.flat(vectors), x.pass()));
    return sums.isEmpty() ? logit : logit.add(pooled.apply(Tensor.concat(1, sums)).reshape(-1));
  }
}
