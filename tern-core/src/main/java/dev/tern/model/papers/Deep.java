package dev.tern.model.papers;

import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;

/** The hidden layers of a model, {@code deep}, and its logit, {@code out}. */
public final class Deep {
  private final Mlp hidden;
  private final Linear out;

  /** Layers over {@code inputs} numbers of each row. */
  public Deep(Sizes sizes, int inputs, Parameters parameters) {
    hidden = new Mlp(parameters, "deep", inputs, sizes.hidden(), sizes.style());
    out = new Linear(parameters, "out", hidden.outputs(), 1);
  }

  /** {@code [B, inputs]} to {@code [B]}. */
  public Tensor logit(Tensor x, Pass pass) {
    return out.apply(hidden.apply(x, pass)).reshape(-1);
  }
}
