package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/**
 * Neural matrix factorization and its generalized matrix factorization alone (He et al., "Neural
 * Collaborative Filtering", 2017, arXiv:1708.05031), of rows with a user and an item:
 *
 * <pre>
 * GMF:   logit = h (p_u * q_i)
 * NeuMF: logit = h [p_u * q_i; mlp([p'_u; q'_i; numbers])]
 * </pre>
 *
 * <p>{@code p'} and {@code q'} are vectors of their own: an embedding row has both, side by side.
 * For example, with {@code p = (1, 2)}, {@code q = (3, 4)} and {@code h = (1, 1)} GMF's logit is
 * 11.
 */
public final class MatrixFactorization implements Model {
  private static final int SLOTS = 2;

  private final int width;
  private final Optional<Mlp> deep;
  private final Linear out;

  private MatrixFactorization(
      Sizes sizes, Optional<List<Integer>> hidden, Schema schema, Parameters of) {
    if (schema.slotCount() != SLOTS || hidden.isEmpty() && schema.denseDim() > 0) {
      String numbers = hidden.isEmpty() ? "no numbers for GMF" : "any numbers for NEUMF";
      throw new IllegalArgumentException(
          "model: got numbers %s and slots %s, expected two slots, of users and of items, and %s; leave the others out"
              .formatted(schema.dense(), schema.slotNames(), numbers));
    }
    width = sizes.embedding();
    int flat = SLOTS * width + schema.denseDim();
    deep = hidden.map(layers -> new Mlp(of, "deep", flat, layers, sizes.style()));
    out = new Linear(of, "out", width + deep.map(Mlp::outputs).orElse(0), 1, false);
  }

  /** NeuMF. */
  public static MatrixFactorization neural(Sizes sizes, Schema schema, Parameters parameters) {
    return new MatrixFactorization(sizes, Optional.of(sizes.hidden()), schema, parameters);
  }

  /** GMF alone. */
  public static MatrixFactorization generalized(Sizes sizes, Schema schema, Parameters parameters) {
    return new MatrixFactorization(sizes, Optional.empty(), schema, parameters);
  }

  @Override
  public int embeddingWidth() {
    return deep.isPresent() ? 2 * width : width;
  }

  @Override
  public List<Integer> embeddingParts() {
    return deep.isPresent() ? List.of(width, width) : List.of(width);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor factors = x.embedded(0);
    int batch = factors.shape().size(0);
    Tensor product = factors.slice(1, 0, 1).mul(factors.slice(1, 1, 2)).reshape(batch, width);
    Tensor all =
        deep.map(layers -> layers.apply(x.flat(x.embedded(1)), x.pass()))
            .map(hidden -> Tensor.concat(1, List.of(product, hidden)))
            .orElse(product);
    return out.apply(all).reshape(-1);
  }
}
