package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Form;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Product-based neural network (Qu et al., "Product-based Neural Networks for User Response
 * Prediction", ICDM 2016, arXiv:1611.00144): hidden layers read the vectors of slots, the dense
 * numbers, and products of vectors.
 *
 * <pre>
 * inner: p_ij = e_i . e_j for all pairs i &lt; j, S (S - 1) / 2 numbers
 * outer: P = f f', f = e_1 + ... + e_S, D D numbers (the paper's superposition, equation 19)
 * logit = mlp([e_1; ...; e_S; numbers; p; P])
 * </pre>
 *
 * <p>For example, the vectors (1, 2) and (3, 4) have the inner product 11 and, as f = (4, 6), the
 * outer one (16, 24, 24, 36). The form is one of {@link Form#INNER}, {@link Form#OUTER} and {@link
 * Form#BOTH}.
 */
public final class ProductNetwork extends FieldModel {
  private final boolean inner;
  private final boolean outer;
  private final Deep deep;

  public ProductNetwork(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    inner = sizes.form() != Form.OUTER;
    outer = sizes.form() != Form.INNER;
    int width = sizes.embedding();
    int inputs = sizes.widths().flat(schema);
    inputs += inner ? SlotPairs.count(schema.slotCount()) : 0;
    inputs += outer ? width * width : 0;
    deep = new Deep(sizes, inputs, parameters);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor vectors = x.embedded();
    int batch = vectors.shape().size(0);
    int width = vectors.shape().size(2);
    List<Tensor> inputs = new ArrayList<>(List.of(x.flat(vectors)));
    if (inner) {
      inputs.add(vectors.dotInteraction());
    }
    if (outer) {
      Tensor sum = vectors.sum(1);
      Tensor square = sum.reshape(batch, width, 1).mul(sum.reshape(batch, 1, width));
      inputs.add(square.reshape(batch, width * width));
    }
    return deep.logit(Tensor.concat(1, inputs), x.pass());
  }
}
