package dev.tern.model.papers;

import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Form;
import dev.tern.nn.Linear;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;

/**
 * FiBiNET (Huang et al., "FiBiNET: Combining Feature Importance and Bilinear feature Interaction
 * for Click-Through Rate Prediction", RecSys 2019, arXiv:1905.09433): bilinear products of pairs of
 * slots, once of their vectors and once of vectors weighed by a squeeze and excitation (SENET).
 *
 * <pre>
 * z_s = mean of e_s,   a = relu(W2 relu(W1 z)),   v_s = a_s e_s
 * p_ij = (e_i W) * e_j,   q_ij = (v_i W) * v_j   for all pairs i &lt; j
 * logit = linear + mlp([p; q; numbers])
 * </pre>
 *
 * <p>{@code W} belongs to a pair, to its left slot, or is one for all, by the form {@link
 * Form#PAIR}, {@link Form#FIELD} or {@link Form#ONE}; p and q share it. {@code W1} has {@code S /
 * r} columns, one or more, with the {@link Sizes#reduction} r. Neither has a bias.
 */
public final class BilinearNetwork extends LinearModel {
  private final Form form;
  private final Linear squeeze;
  private final Linear excite;
  private final Variable matrices;
  private final Deep deep;

  public BilinearNetwork(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes.embedding(), schema, parameters, "linear");
    form = sizes.form();
    int slots = schema.slotCount();
    int width = sizes.embedding();
    int pairs = SlotPairs.count(slots);
    int units = Math.max(1, slots / sizes.reduction());
    squeeze = new Linear(parameters, "squeeze", slots, units, false);
    excite = new Linear(parameters, "excite", units, slots, false);
    int count = form == Form.PAIR ? pairs : form == Form.FIELD ? slots : 1;
    float range = (float) (1 / Math.sqrt(width));
    matrices = parameters.uniform("bilinear.weight", Shape.of(count, width, width), range);
    deep = new Deep(sizes, 2 * pairs * width + schema.denseDim(), parameters);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor vectors = x.embedded(1);
    int batch = vectors.shape().size(0);
    int slots = vectors.shape().size(1);
    Tensor weights = excite.apply(squeeze.apply(vectors.mean(2)).relu()).relu();
    Tensor weighed = vectors.mul(weights.reshape(batch, slots, 1));
    List<Tensor> inputs = List.of(products(vectors), products(weighed), x.dense());
    return super.logits(x).add(deep.logit(Tensor.concat(1, inputs), x.pass()));
  }

  /** {@code [B, S, D]} to {@code [B, P * D]}. */
  private Tensor products(Tensor vectors) {
    int batch = vectors.shape().size(0);
    Tensor products =
        switch (form) {
          case PAIR -> turned(SlotPairs.lefts(vectors)).mul(SlotPairs.rights(vectors));
          case FIELD -> SlotPairs.products(turned(vectors), vectors);
          default -> SlotPairs.products(turnedByOne(vectors), vectors);
        };
    return products.reshape(batch, -1);
  }

  /** Vectors {@code [B, N, D]} times a matrix for each of {@code N}. */
  private Tensor turned(Tensor vectors) {
    return vectors.transpose(0, 1).matmul(matrices.tensor()).transpose(0, 1);
  }

  private Tensor turnedByOne(Tensor vectors) {
    Shape shape = vectors.shape();
    int width = shape.size(2);
    Tensor matrix = matrices.tensor().reshape(width, width);
    return vectors.reshape(-1, width).matmul(matrix).reshape(shape.toArray());
  }
}
