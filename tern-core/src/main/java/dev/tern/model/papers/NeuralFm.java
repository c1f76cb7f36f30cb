package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * Neural factorization machine (He and Chua, "Neural Factorization Machines for Sparse Predictive
 * Analytics", SIGIR 2017, arXiv:1708.05027): hidden layers read the sum of the products of all
 * pairs of vectors, element by element, and the dense numbers.
 *
 * <pre>
 * f = ((e_1 + ... + e_S)^2 - (e_1^2 + ... + e_S^2)) / 2        [B, D]
 * logit = linear + mlp([f; numbers])
 * </pre>
 *
 * <p>For example, the vectors (1, 2) and (3, 4) have f = (3, 8). {@code e_s} is the pooled vector
 * of a slot, so the features of one slot do not meet.
 */
public final class NeuralFm extends LinearModel {
  private final Deep deep;

  public NeuralFm(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes.embedding(), schema, parameters, "linear");
    deep = new Deep(sizes, sizes.embedding() + schema.denseDim(), parameters);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor vectors = x.embedded(1);
    Tensor pairs = vectors.sum(1).square().sub(vectors.square().sum(1)).mul(0.5f);
    Tensor inputs = Tensor.concat(1, List.of(pairs, x.dense()));
    return super.logits(x).add(deep.logit(inputs, x.pass()));
  }
}
