package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * Logistic regression: a weight for each id, plus a linear layer on the dense numbers. It is the
 * linear part of several models. The weight is the first float of the id's embedding row, as part 0
 * of {@link Model#embeddingParts}; part 1 is its vector, for the other parts of the model.
 */
public class LinearModel implements Model {
  private final int width;
  private final Linear linear;

  /** Logistic regression alone. */
  public LinearModel(Sizes sizes, Schema schema, Parameters parameters) {
    this(0, schema, parameters, "linear");
  }

  /**
   * @param width of the vectors; 0 for none
   * @param name of the linear layer
   */
  LinearModel(int width, Schema schema, Parameters parameters, String name) {
    this.width = width;
    linear = new Linear(parameters, name, schema.denseDim(), 1);
  }

  @Override
  public final int embeddingWidth() {
    return 1 + width;
  }

  @Override
  public final List<Integer> embeddingParts() {
    return width == 0 ? List.of(1) : List.of(1, width);
  }

  @Override
  public Tensor logits(Features x) {
    int batch = x.dense().shape().size(0);
    return x.embedded(0).reshape(batch, -1).sum(1).add(linear.apply(x.dense()).reshape(batch));
  }
}
