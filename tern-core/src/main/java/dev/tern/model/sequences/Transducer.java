package dev.tern.model.sequences;

import dev.tern.base.Shape;
import dev.tern.model.papers.Sizes;
import dev.tern.nn.LayerNorm;
import dev.tern.nn.Linear;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.SequencePooling;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;

/**
 * Hierarchical sequential transduction units (Zhai et al., "Actions Speak Louder than Words:
 * Trillion-Parameter Sequential Transducers for Generative Recommendations", ICML 2024,
 * arXiv:2402.17152) over one sequence, whose elements see those up to themselves:
 *
 * <pre>
 * [U; V; Q; K] = silu(norm(x) W),   silu(z) = z sigmoid(z)
 * A_ij = silu(Q_i . K_j + r_(i - j)) / n for j up to i, in each head
 * y = x + (norm(A V) * U) W2 + b2
 * </pre>
 *
 * <p>{@code n} is the longest length of a sequence, and {@code r} has a learned number for each
 * distance, which all heads share. There is no softmax: with more elements that fit, {@code A V} is
 * larger. The paper's biases of the times between elements are left out.
 */
final class Transducer extends SequenceFit {
  private static final float INITIAL_RANGE = 0.02f;

  private record Layer(
      LayerNorm before, Linear all, Variable distances, LayerNorm after, Linear out, int heads) {
    Ragged apply(Ragged x, int longest, Pass pass, float dropout) {
      int width = x.values().shape().size(1);
      int batch = x.sequences();
      Tensor made = silu(all.apply(before.apply(x.values())));
      Tensor v = split(x.with(made.slice(1, width, 2 * width)), longest);
      Tensor q = split(x.with(made.slice(1, 2 * width, 3 * width)), longest);
      Tensor k = split(x.with(made.slice(1, 3 * width, 4 * width)), longest);
      Tensor bias = distances.tensor().gather(distance(longest)).reshape(1, longest, longest);
      Tensor scores = silu(q.matmul(k.transpose(1, 2)).add(bias)).mul(1f / longest);
      Tensor found = scores.mul(seen(longest)).matmul(v);
      int d = width / heads;
      Tensor joined = found.reshape(batch, heads, longest, d).transpose(1, 2);
      Ragged rows = x.unpad(joined.reshape(batch, longest, width));
      Tensor gated = after.apply(rows.values()).mul(made.slice(1, 0, width));
      return x.with(x.values().add(out.apply(pass.dropout(gated, dropout))));
    }

    private static Tensor silu(Tensor z) {
      return z.mul(z.sigmoid());
    }

    /** Padded sequences of each head, {@code [B * heads, longest, d]}. */
    private Tensor split(Ragged x, int longest) {
      int batch = x.sequences();
      int d = x.values().shape().size(1) / heads;
      return x.pad(longest, 0)
          .reshape(batch, longest, heads, d)
          .transpose(1, 2)
          .reshape(batch * heads, longest, d);
    }

    /** {@code i - j}, 0 where it is less. */
    private static Tensor distance(int longest) {
      int[] distances = new int[longest * longest];
      for (int i = 0; i < longest; i++) {
        for (int j = 0; j < longest; j++) {
          distances[i * longest + j] = Math.max(0, i - j);
        }
      }
      return Tensor.ofInts(Shape.of(longest * longest), distances);
    }

    /** 1 where {@code j} is up to {@code i}. */
    private static Tensor seen(int longest) {
      float[] seen = new float[longest * longest];
      for (int i = 0; i < longest * longest; i++) {
        seen[i] = i % longest <= i / longest ? 1 : 0;
      }
      return Tensor.of(Shape.of(1, longest, longest), seen);
    }
  }

  private final List<Layer> layers = new ArrayList<>();
  private final int longest;
  private final float dropout;

  /** As many layers as {@code sizes} has cross layers. */
  Transducer(Sizes sizes, SequenceTarget sequence, Parameters parameters) {
    super("HSTU", "transformer." + sequence.name(), sequence, parameters);
    String name = "transformer." + sequence.name();
    longest = sequence.maxLength();
    dropout = sizes.style().dropout();
    int width = sequence.elementWidth();
    int heads = sizes.heads();
    if (width % heads != 0) {
      throw new IllegalArgumentException(
          "model: got %d heads for HSTU, whose elements of %s have %d numbers, expected a divisor; change one of them"
              .formatted(heads, sequence.name(), width));
    }
    for (int l = 0; l < sizes.cross().layers(); l++) {
      String layer = name + "." + l;
      layers.add(
          new Layer(
              new LayerNorm(parameters, layer + ".before", width),
              new Linear(parameters, layer + ".all", width, 4 * width, false),
              parameters.uniform(layer + ".distances", Shape.of(longest, 1), INITIAL_RANGE),
              new LayerNorm(parameters, layer + ".after", width),
              new Linear(parameters, layer + ".out", width, width),
              heads));
    }
  }

  @Override
  Tensor end(Ragged elements, Pass pass) {
    Ragged x = elements;
    for (Layer layer : layers) {
      x = layer.apply(x, longest, pass, dropout);
    }
    return x.pool(SequencePooling.LAST);
  }
}
