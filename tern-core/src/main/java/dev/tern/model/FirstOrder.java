package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Linear;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;

/**
 * The linear part of several models: a weight for each id, plus a linear layer on the dense
 * numbers. The weight is the first float of the id's embedding row, as part 0 of {@link
 * Model#embeddingParts}.
 */
final class FirstOrder {
  private final Linear linear;

  FirstOrder(Schema schema, Parameters parameters, String name) {
    linear = new Linear(parameters, name, schema.denseDim(), 1);
  }

  /** {@code [B]}. */
  Tensor apply(Features x) {
    int batch = x.dense().shape().size(0);
    return x.embedded(0).reshape(batch, -1).sum(1).add(linear.apply(x.dense()).reshape(batch));
  }
}
