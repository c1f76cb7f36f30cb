package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;

/** Logistic regression: a weight for each id and each dense number. */
final class LogisticRegression extends FirstOrder {
  LogisticRegression(Schema schema, Parameters parameters) {
    super(0, schema, parameters, "linear");
  }

  @Override
  public Tensor logits(Features x) {
    return firstOrder(x);
  }
}
