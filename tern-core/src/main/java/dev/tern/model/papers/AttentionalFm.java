package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;

/**
 * Attentional factorization machine (Xiao et al., "Attentional Factorization Machines: Learning the
 * Weight of Feature Interactions via Attention Networks", IJCAI 2017, arXiv:1708.04617): a
 * factorization machine whose pairs of slots count by an attention.
 *
 * <pre>
 * p_ij = e_i * e_j,   a = softmax over pairs of h . relu(W p_ij + b)
 * logit = linear + q . (sum of a_ij p_ij)
 * </pre>
 *
 * <p>{@code W} has {@link Sizes#units} columns, the paper's attention factor. With equal weights
 * the sum is the mean of the products, as of (3, 8), (5, 12) and (15, 24) it is (7.67, 14.67).
 * Dropout applies to that sum. {@code e_s} is the pooled vector of a slot.
 */
public final class AttentionalFm extends LinearModel {
  private final Linear hidden;
  private final Linear score;
  private final Linear out;
  private final float dropout;

  public AttentionalFm(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes.embedding(), schema, parameters, "linear");
    hidden = new Linear(parameters, "attention.hidden", sizes.embedding(), sizes.units());
    score = new Linear(parameters, "attention.score", sizes.units(), 1, false);
    out = new Linear(parameters, "out", sizes.embedding(), 1, false);
    dropout = sizes.style().dropout();
  }

  @Override
  public Tensor logits(Features x) {
    Tensor vectors = x.embedded(1);
    Tensor products = SlotPairs.products(vectors, vectors);
    int batch = products.shape().size(0);
    int pairs = products.shape().size(1);
    int width = products.shape().size(2);
    Tensor scores = score.apply(hidden.apply(products.reshape(batch * pairs, width)).relu());
    Tensor weights = scores.reshape(batch, pairs).softmax(1).reshape(batch, pairs, 1);
    Tensor pooled = x.pass().dropout(products.mul(weights).sum(1), dropout);
    return super.logits(x).add(out.apply(pooled).reshape(-1));
  }
}
