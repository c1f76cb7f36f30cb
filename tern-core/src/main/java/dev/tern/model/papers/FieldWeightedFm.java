package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.FieldWeightedProducts;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;

/**
 * Field-weighted factorization machine (Pan et al., "Field-weighted Factorization Machines for
 * Click-Through Rate Prediction in Display Advertising", WWW 2018, arXiv:1806.03514): a
 * factorization machine with a learned weight for each pair of slots.
 *
 * <pre>
 * logit = linear + sum over pairs i &lt; j of r_ij (e_i . e_j)
 * </pre>
 *
 * <p>Weights start at 1, where it is a factorization machine of slots. For example, the vectors (1,
 * 2) and (3, 4) with the weight 0.5 add 5.5. {@code e_s} is the pooled vector of a slot.
 */
public final class FieldWeightedFm extends LinearModel {
  private final FieldWeightedProducts products;

  public FieldWeightedFm(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes.embedding(), schema, parameters, "linear");
    products = new FieldWeightedProducts(parameters, "pairs", schema.slotCount());
  }

  @Override
  public Tensor logits(Features x) {
    return super.logits(x).add(products.apply(x.embedded(1)));
  }
}
