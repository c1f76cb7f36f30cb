package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.FactorizationMachine;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/** Factorization machine (Rendle, "Factorization Machines", ICDM 2010). */
final class FmModel implements Model {
  private final int width;
  private final FirstOrder linear;

  FmModel(int width, Schema schema, Parameters parameters) {
    this.width = width;
    linear = new FirstOrder(schema, parameters, "linear");
  }

  @Override
  public int embeddingWidth() {
    return 1 + width;
  }

  @Override
  public List<Integer> embeddingParts() {
    return List.of(1, width);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor vectors = x.embedded(1);
    return linear.apply(x).add(FactorizationMachine.secondOrder(vectors));
  }
}
