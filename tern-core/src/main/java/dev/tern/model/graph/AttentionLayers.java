package dev.tern.model.graph;

import static dev.tern.model.graph.GraphFunction.require;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** Softmax, masks and attention. */
final class AttentionLayers {
  /** What a score loses where its mask is 0. */
  private static final float MASKED = 10_000;

  /** Added to the sum of the powers of masked scores. */
  private static final float EPSILON = 1e-6f;

  private AttentionLayers() {}

  static GraphFunction softmax(float factor, List<Shape> inputs) {
    Shape scores = inputs.getFirst();
    require(scores.rank() >= 2, scores, "[.., n]");
    if (inputs.size() == 1) {
      return GraphFunction.of(x -> (factor == 1 ? x : x.mul(factor)).softmax(-1));
    }
    requireMask(inputs.getLast(), scores);
    return (in, _) -> List.of(masked(in.getFirst().mul(factor), in.getLast()));
  }

  private static void requireMask(Shape mask, Shape scores) {
    boolean heads = mask.rank() == 4 && scores.rank() == 4 && mask.size(1) == 1;
    Shape each = heads ? scores.withSize(1, 1) : scores;
    require(mask.equals(each), mask, "a mask for " + GraphFunction.text(scores));
  }

  private static Tensor masked(Tensor scores, Tensor mask) {
    Tensor left = scores.sub(Tensor.scalar(1).sub(mask).mul(MASKED));
    Tensor powers = left.sub(left.maxKeep(-1).detach()).exp();
    return powers.div(powers.sumKeep(-1).add(EPSILON));
  }

  static GraphFunction mask(GraphLayer layer, List<Shape> inputs) {
    for (Shape each : inputs) {
      require(each.rank() == 2 && each.size(1) == 1, each, "[B, 1]");
      Shape first = inputs.getFirst();
      require(each.size(0) == first.size(0), each, GraphFunction.text(first) + " as the first");
    }
    int from = layer.whole("from");
    int to = layer.whole("to");
    return (in, _) -> {
      Tensor rows = below(Shape.of(1, 1, from, 1), from, in.getFirst());
      return List.of(rows.mul(below(Shape.of(1, 1, 1, to), to, in.getLast())));
    };
  }

  /** 1 where the index is below the row's length. */
  private static Tensor below(Shape shape, int count, Tensor lengths) {
    float[] indices = new float[count];
    for (int i = 0; i < count; i++) {
      indices[i] = i;
    }
    Tensor isBelow = Tensor.of(shape, indices).lt(lengths.reshape(-1, 1, 1, 1));
    return isBelow.select(Tensor.scalar(1), Tensor.scalar(0));
  }

  static GraphFunction attention(int heads, List<Shape> inputs) {
    Shape q = inputs.getFirst();
    require(
        q.rank() == 3 && q.size(2) % heads == 0,
        q,
        "[B, L, n] with a width that %d heads divide".formatted(heads));
    int width = q.size(2) / heads;
    Shape k = inputs.get(1);
    require(k.rank() == 3 && k.withSize(1, q.size(1)).equals(q), k, GraphFunction.text(q));
    require(inputs.get(2).equals(k), inputs.get(2), GraphFunction.text(k));
    if (inputs.size() == 4) {
      requireMask(inputs.get(3), Shape.of(q.size(0), heads, q.size(1), k.size(1)));
    }
    return (in, _) -> {
      Optional<Tensor> mask = in.size() == 4 ? Optional.of(in.get(3)) : Optional.empty();
      Tensor query = split(in.getFirst(), heads, width);
      Tensor key = split(in.get(1), heads, width);
      Tensor value = split(in.get(2), heads, width);
      float scale = (float) (1 / Math.sqrt(width));
      Tensor scores = query.matmul(key.transpose(1, 2)).mul(scale);
      Tensor shares = mask.map(m -> shares(scores, heads, m)).orElseGet(() -> scores.softmax(-1));
      int length = query.shape().size(1);
      return List.of(
          shares
              .matmul(value)
              .reshape(-1, heads, length, width)
              .transpose(1, 2)
              .reshape(-1, length, heads * width));
    };
  }

  private static Tensor shares(Tensor scores, int heads, Tensor mask) {
    int from = scores.shape().size(1);
    int to = scores.shape().size(2);
    Tensor ofHeads = scores.reshape(-1, heads, from, to);
    return masked(ofHeads, mask).reshape(-1, from, to);
  }

  /** {@code [B, L, heads * width]} to {@code [B * heads, L, width]}. */
  private static Tensor split(Tensor x, int heads, int width) {
    int length = x.shape().size(1);
    return x.reshape(-1, length, heads, width).transpose(1, 2).reshape(-1, length, width);
  }
}
