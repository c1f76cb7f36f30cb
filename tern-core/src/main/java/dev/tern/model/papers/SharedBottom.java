package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Mlp;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;

/**
 * Several tasks over hidden layers that all share (Caruana, "Multitask Learning", Machine Learning
 * 28, 1997): {@code y_k = tower_k(bottom(x))}.
 */
public final class SharedBottom implements Model {
  private final Sizes sizes;
  private final Mlp bottom;
  private final TaskTowers towers;

  public SharedBottom(Sizes sizes, Schema schema, Parameters parameters) {
    this.sizes = sizes;
    int flat = sizes.widths().flat(schema);
    bottom = new Mlp(parameters, "bottom", flat, sizes.hidden(), sizes.style());
    towers = new TaskTowers(sizes, bottom.outputs(), parameters);
  }

  @Override
  public int embeddingWidth() {
    return sizes.widths().all();
  }

  @Override
  public int embeddingWidth(String table) {
    return sizes.widths().of(table);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor shared = bottom.apply(x.flat(x.embedded()), x.pass());
    return towers.logits(task -> shared, x.pass());
  }
}
