package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;

/** Logistic regression: a weight for each id and each dense number. */
final class LogisticRegression implements Model {
  private final FirstOrder linear;

  LogisticRegression(Schema schema, Parameters parameters) {
    linear = new FirstOrder(schema, parameters, "linear");
  }

  @Override
  public int embeddingWidth() {
    return 1;
  }

  @Override
  public Tensor logits(Features x) {
    return linear.apply(x);
  }
}
