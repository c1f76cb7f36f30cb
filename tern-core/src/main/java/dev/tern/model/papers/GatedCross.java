package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Form;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Gated deep and cross network (Wang et al., "Towards Deeper, Lighter and Interpretable Cross
 * Network for CTR Prediction", CIKM 2023, arXiv:2311.04635): the cross layers of DCN-V2 with a gate
 * that decides how much of each cross is kept.
 *
 * <pre>
 * c_0 = [e_1; ...; e_S; numbers],   c_(l+1) = c_0 * (c_l W + b) * sigmoid(c_l G) + c_l
 * stacked (GDCN-S):  logit = mlp(c_L)
 * parallel (GDCN-P): logit = w [c_L; hidden layers of c_0] + b
 * </pre>
 *
 * <p>Where a gate is 1/2, a layer adds half of what one of DCN-V2 does. The form is {@link
 * Form#STACKED} or {@link Form#PARALLEL}.
 */
public final class GatedCross extends FlatModel {
  /** A cross layer. */
  private record Layer(Linear weight, Linear gate) {
    Tensor apply(Tensor start, Tensor c) {
      return start.mul(weight.apply(c)).mul(gate.apply(c).sigmoid()).add(c);
    }
  }

  private final List<Layer> layers = new ArrayList<>();
  private final boolean stacked;
  private final Mlp deep;
  private final Linear out;

  public GatedCross(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    int flat = sizes.widths().flat(schema);
    for (int l = 0; l < sizes.cross().layers(); l++) {
      layers.add(
          new Layer(
              new Linear(parameters, "cross." + l, flat, flat),
              new Linear(parameters, "cross." + l + ".gate", flat, flat, false)));
    }
    stacked = sizes.form() == Form.STACKED;
    deep = new Mlp(parameters, "deep", flat, sizes.hidden(), sizes.style());
    out = new Linear(parameters, "out", deep.outputs() + (stacked ? 0 : flat), 1);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor start = x.flat(x.embedded());
    Tensor crossed = start;
    for (Layer layer : layers) {
      crossed = layer.apply(start, crossed);
    }
    Tensor hidden = deep.apply(stacked ? crossed : start, x.pass());
    Tensor read = stacked ? hidden : Tensor.concat(1, List.of(crossed, hidden));
    return out.apply(read).reshape(-1);
  }
}
