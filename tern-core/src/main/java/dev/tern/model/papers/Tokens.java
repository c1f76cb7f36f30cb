package dev.tern.model.papers;

import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;

/**
 * A vector for each feature of a row: of a dense number {@code x_f v_f} with a learned {@code v_f},
 * then the pooled vector of each slot.
 */
final class Tokens {
  private static final float INITIAL_RANGE = 0.0173f;

  private final Variable numbers;
  private final int count;

  Tokens(Sizes sizes, Schema schema, Parameters parameters) {
    Shape shape = Shape.of(schema.denseDim(), sizes.embedding());
    numbers = parameters.uniform("numbers.weight", shape, INITIAL_RANGE);
    count = schema.denseDim() + schema.slotCount();
  }

  /** Vectors of a row, {@code T = F + S}. */
  int count() {
    return count;
  }

  /** {@code [B, T, D]}. */
  Tensor of(Features x) {
    int batch = x.dense().shape().size(0);
    int dense = x.dense().shape().size(1);
    Tensor scaled = x.dense().reshape(batch, dense, 1).mul(numbers.tensor());
    return Tensor.concat(1, List.of(scaled, x.embedded()));
  }
}
