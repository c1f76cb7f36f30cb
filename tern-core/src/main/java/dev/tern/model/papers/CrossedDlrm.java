package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.CrossNetwork;
import dev.tern.nn.Features;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * DLRM with the cross layers of DCN-V2 in the place of dot products, as in the sample of HugeCTR
 * and in MLPerf's benchmark (Naumov et al. 2019, arXiv:1906.00091; Wang et al., WWW 2021,
 * arXiv:2008.13535):
 *
 * <pre>
 * logit = top(cross([bottom(numbers); e_1; ...; e_S]))
 * </pre>
 *
 * <p>The bottom network's last layer is as wide as an embedding. HugeCTR's sample has the bottom
 * 512, 256, 128, the top 1024, 1024, 512, 256 and 1, and 3 cross layers of rank 512.
 */
public final class CrossedDlrm extends FlatModel {
  private final Mlp bottom;
  private final CrossNetwork cross;
  private final Deep top;

  public CrossedDlrm(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    Mlp.Style style = sizes.style();
    Mlp.Style kept = new Mlp.Style(style.activation(), style.batchNorm(), 0);
    List<Integer> layers = new ArrayList<>(sizes.bottom());
    layers.add(sizes.embedding());
    bottom = new Mlp(parameters, "bottom", schema.denseDim(), layers, kept);
    int vectors = sizes.widths().flat(schema) - schema.denseDim();
    int flat = bottom.outputs() + vectors;
    cross = DeepCross.matrices(sizes.cross(), parameters, flat);
    top = new Deep(sizes, flat, parameters);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor z = bottom.apply(x.dense(), x.pass());
    Tensor vectors = x.embedded().reshape(z.shape().size(0), -1);
    Tensor crossed = cross.apply(Tensor.concat(1, List.of(z, vectors)));
    return top.logit(crossed, x.pass());
  }
}
