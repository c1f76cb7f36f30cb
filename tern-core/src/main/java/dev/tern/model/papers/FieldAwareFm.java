package dev.tern.model.papers;

import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;

/**
 * Field-aware factorization machine (Juan et al., "Field-aware Factorization Machines for CTR
 * Prediction", RecSys 2016, doi 10.1145/2959100.2959134): an id has a vector for each slot that it
 * meets.
 *
 * <pre>
 * logit = linear + sum over pairs i &lt; j of v_i,j . v_j,i
 * </pre>
 *
 * <p>{@code v_i,j} is what slot {@code i} has for slot {@code j}: numbers {@code j D} to {@code (j
 * + 1) D} of its row, which has {@code S D} numbers besides its linear weight. For example, with
 * {@code v_1,2 = (1, 2)} and {@code v_2,1 = (3, 4)} the pair adds 11. The vectors of several ids of
 * a slot are summed, so they meet other slots and not each other.
 */
public final class FieldAwareFm extends LinearModel {
  private final int width;
  private final int slots;
  private final float[] isPair;

  public FieldAwareFm(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes.embedding() * schema.slotCount(), schema, parameters, "linear");
    width = sizes.embedding();
    slots = schema.slotCount();
    isPair = new float[slots * slots];
    for (int i = 0; i < slots; i++) {
      for (int j = i + 1; j < slots; j++) {
        isPair[i * slots + j] = 1;
      }
    }
  }

  @Override
  public Tensor logits(Features x) {
    int batch = x.embedded(1).shape().size(0);
    Tensor vectors = x.embedded(1).reshape(batch, slots, slots, width);
    Tensor products = vectors.mul(vectors.transpose(1, 2)).sum(3);
    Tensor pairs = products.mul(Tensor.of(Shape.of(slots, slots), isPair));
    return super.logits(x).add(pairs.reshape(batch, slots * slots).sum(1));
  }
}
