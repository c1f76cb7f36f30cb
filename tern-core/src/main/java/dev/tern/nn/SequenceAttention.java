package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.SequencePooling;
import dev.tern.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Multi-head attention within sequences (Vaswani et al., "Attention Is All You Need", 2017): each
 * head computes {@code softmax(Q K^T / sqrt(d)) V} over the elements of a sequence, where Q, K and
 * V are linear in the elements and {@code d = width / heads}. A last linear layer reads all heads
 * side by side. Elements of other sequences and unused rows take no part.
 */
public final class SequenceAttention {
  private static final float UNSEEN = -1e9f;

  private final Linear queries;
  private final Linear keys;
  private final Linear values;
  private final Linear out;
  private final int width;
  private final int heads;

  /**
   * Attention over elements of {@code width} numbers.
   *
   * @param heads a divisor of {@code width}
   */
  public SequenceAttention(Parameters parameters, String name, int width, int heads) {
    if (heads < 1 || width % heads != 0) {
      throw new IllegalArgumentException(
          "attention: got %s heads for elements of %s numbers, expected a divisor; change one of them"
              .formatted(heads, width));
    }
    queries = new Linear(parameters, name + ".queries", width, width);
    keys = new Linear(parameters, name + ".keys", width, width);
    values = new Linear(parameters, name + ".values", width, width);
    out = new Linear(parameters, name + ".out", width, width);
    this.width = width;
    this.heads = heads;
  }

  private float scale() {
    return (float) (1 / Math.sqrt(width / heads));
  }

  /**
   * What one query a sequence finds in its elements, {@code [B, width]}.
   *
   * @param elements {@code B} sequences of values {@code [n, width]}, none of them empty
   * @param query {@code [B, width]}
   */
  public Tensor apply(Ragged elements, Tensor query) {
    Tensor x = elements.values();
    int rows = elements.rows();
    int d = width / heads;
    Tensor q = elements.expand(queries.apply(query).mul(scale())).values();
    Tensor both = Linear.sideBySide(List.of(keys, values), x);
    Tensor k = both.slice(1, 0, width);
    Tensor v = both.slice(1, width, 2 * width);
    Tensor scores = k.mul(q).reshape(rows, heads, d).sumKeep(2).reshape(rows, heads);
    Tensor weights = elements.with(scores).softmax().values().reshape(rows, heads, 1);
    Tensor weighed = v.reshape(rows, heads, d).mul(weights).reshape(rows, width);
    return out.apply(elements.with(weighed).pool(SequencePooling.SUM));
  }

  /**
   * What each element finds in the elements of its sequence: values of the same shape.
   *
   * @param elements sequences of values {@code [n, width]}
   * @param longest no sequence may be longer
   */
  public Ragged apply(Ragged elements, int longest) {
    return apply(elements, longest, scores -> scores);
  }

  /**
   * What each element finds in its sequence up to itself: values of the same shape.
   *
   * @param elements sequences of values {@code [n, width]}
   * @param longest no sequence may be longer
   */
  public Ragged causal(Ragged elements, int longest) {
    float[] seen = new float[longest * longest];
    for (int i = 0; i < longest; i++) {
      Arrays.fill(seen, i * longest, i * longest + i + 1, 1);
    }
    Tensor allowed = Tensor.of(Shape.of(1, 1, longest, longest), seen).gt(Tensor.scalar(0));
    return apply(elements, longest, scores -> allowed.select(scores, Tensor.scalar(UNSEEN)));
  }

  private Ragged apply(Ragged elements, int longest, UnaryOperator<Tensor> masked) {
    Tensor x = elements.values();
    Tensor all = Linear.sideBySide(List.of(queries, keys, values), x);
    Tensor q = split(elements.with(all.slice(1, 0, width).mul(scale())), longest);
    Tensor k = split(elements.with(all.slice(1, width, 2 * width)), longest);
    Tensor v = split(elements.with(all.slice(1, 2 * width, 3 * width)), longest);
    int batch = elements.sequences();
    int d = width / heads;
    Tensor scores = q.matmul(k.transpose(1, 2)).reshape(batch, heads, longest, longest);
    Tensor mask = elements.mask(longest).reshape(batch, 1, 1, longest);
    // An empty sequence has no weights at all: a large number in the place of minus infinity.
    Tensor weights = mask.select(masked.apply(scores), Tensor.scalar(UNSEEN)).softmax(3);
    Tensor found = weights.reshape(batch * heads, longest, longest).matmul(v);
    Tensor joined = found.reshape(batch, heads, longest, d).transpose(1, 2);
    Ragged rows = elements.unpad(joined.reshape(batch, longest, width));
    return elements.with(out.apply(rows.values()));
  }

  /** Padded sequences of each head, {@code [B * heads, longest, d]}. */
  private Tensor split(Ragged x, int longest) {
    int batch = x.sequences();
    int d = width / heads;
    return x.pad(longest, 0)
        .reshape(batch, longest, heads, d)
        .transpose(1, 2)
        .reshape(batch * heads, longest, d);
  }
}
