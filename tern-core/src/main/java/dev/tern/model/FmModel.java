package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;

/** Factorization machine (Rendle, "Factorization Machines", ICDM 2010). */
final class FmModel extends LinearModel {
  FmModel(int width, Schema schema, Parameters parameters) {
    super(width, schema, parameters, "linear");
  }

  @Override
  public Tensor logits(Features x) {
    return super.logits(x).add(x.embedded(1).pairSums());
  }
}
