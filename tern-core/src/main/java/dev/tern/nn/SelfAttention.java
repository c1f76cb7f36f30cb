package dev.tern.nn;

import dev.tern.tensor.Tensor;

/**
 * Multi-head self-attention (Vaswani et al., "Attention Is All You Need", 2017): each head computes
 * {@code softmax(Q K^T / sqrt(d)) V} over the tokens of a row, where Q, K and V are linear in the
 * tokens and {@code d = width / heads}. A last linear layer reads all heads side by side.
 */
public final class SelfAttention {
  private final Linear queries;
  private final Linear keys;
  private final Linear values;
  private final Linear out;
  private final int heads;

  /**
   * Attention over tokens of {@code width} numbers.
   *
   * @param heads a divisor of {@code width}
   */
  public SelfAttention(Parameters parameters, String name, int width, int heads) {
    if (heads < 1 || width % heads != 0) {
      throw new IllegalArgumentException(
          "attention: got %s heads for tokens of %s numbers, expected a divisor; change one of them"
              .formatted(heads, width));
    }
    queries = new Linear(parameters, name + ".queries", width, width);
    keys = new Linear(parameters, name + ".keys", width, width);
    values = new Linear(parameters, name + ".values", width, width);
    out = new Linear(parameters, name + ".out", width, width);
    this.heads = heads;
  }

  /** {@code [B, T, width]} to the same shape. */
  public Tensor apply(Tensor x) {
    int batch = x.shape().size(0);
    int tokens = x.shape().size(1);
    int width = x.shape().size(2);
    int d = width / heads;
    Tensor flat = x.reshape(batch * tokens, width);
    Tensor q = split(queries.apply(flat).mul((float) (1 / Math.sqrt(d))), batch, tokens, d);
    Tensor k = split(keys.apply(flat), batch, tokens, d);
    Tensor v = split(values.apply(flat), batch, tokens, d);
    Tensor weights = q.matmul(k.transpose(1, 2)).softmax(2);
    Tensor joined =
        weights
            .matmul(v)
            .reshape(batch, heads, tokens, d)
            .transpose(1, 2)
            .reshape(batch * tokens, width);
    return out.apply(joined).reshape(batch, tokens, width);
  }

  /** {@code [B * T, width]} to {@code [B * heads, T, d]}. */
  private Tensor split(Tensor x, int batch, int tokens, int d) {
    return x.reshape(batch, tokens, heads, d).transpose(1, 2).reshape(batch * heads, tokens, d);
  }
}
