package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Deep Crossing (Shan et al., "Deep Crossing: Web-Scale Modeling without Manually Crafted
 * Combinatorial Features", KDD 2016): residual units {@code relu(x + W1 relu(W0 x + b0) + b1)} over
 * all embeddings and numbers side by side, one unit for each hidden width.
 */
public final class DeepCrossing implements Model {
  /** Two layers and a connection around them, with dropout after the inner layer. */
  private record Unit(Linear inner, Linear outer, float dropout) {
    Tensor apply(Tensor x, Pass pass) {
      Tensor hidden = pass.dropout(inner.apply(x).relu(), dropout);
      return x.add(outer.apply(hidden)).relu();
    }
  }

  private final SlotWidths widths;
  private final List<Unit> units = new ArrayList<>();
  private final Linear out;

  public DeepCrossing(Sizes sizes, Schema schema, Parameters parameters) {
    widths = sizes.widths();
    int flat = widths.flat(schema);
    for (int inner : sizes.hidden()) {
      String name = "unit." + units.size();
      units.add(
          new Unit(
              new Linear(parameters, name + ".inner", flat, inner),
              new Linear(parameters, name + ".outer", inner, flat),
              sizes.style().dropout()));
    }
    out = new Linear(parameters, "out", flat, 1);
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
    Tensor result = x.flat(x.embedded());
    for (Unit unit : units) {
      result = unit.apply(result, x.pass());
    }
    return out.apply(result).reshape(-1);
  }
}
