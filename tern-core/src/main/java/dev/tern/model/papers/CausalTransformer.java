package dev.tern.model.papers;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.nn.Features;
import dev.tern.nn.LayerNorm;
import dev.tern.nn.Linear;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.nn.SequenceAttention;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.SequencePooling;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;

/**
 * The transformer of SASRec over one sequence, whose elements see those before them:
 *
 * <pre>
 * x_t = sqrt(W) e_t + place_t
 * s = x + attention(norm(x)),   y = s + W2 relu(W1 norm(s) + b1) + b2
 * </pre>
 *
 * <p>{@code W} is the width of an element, place 0 that of the last one. The sequence's vector is
 * the last element of the last block, normalized; of an empty sequence it is zeros.
 */
final class CausalTransformer {
  private static final float INITIAL_RANGE = 0.0173f;

  private record Block(
      LayerNorm before,
      SequenceAttention attention,
      LayerNorm between,
      Linear inner,
      Linear outer) {
    Tensor apply(Tensor x, Tensor attended, Pass pass, float dropout) {
      Tensor s = x.add(pass.dropout(attended, dropout));
      Tensor hidden = pass.dropout(inner.apply(between.apply(s)).relu(), dropout);
      return s.add(pass.dropout(outer.apply(hidden), dropout));
    }
  }

  private final SequenceTarget sequence;
  private final Variable places;
  private final List<Block> blocks = new ArrayList<>();
  private final LayerNorm last;
  private final float dropout;

  /** Blocks with the feed-forward widths that {@code sizes} has for the attention, one each. */
  CausalTransformer(Sizes sizes, SequenceTarget sequence, Parameters parameters) {
    if (sequence.targets().size() < sequence.columns()) {
      throw new IllegalArgumentException(
          "model: got the sequence %s with a column that shares no table with another column, expected a target of each for SASREC; name its table, or give the column a sequence of its own name with DIN"
              .formatted(sequence.name()));
    }
    this.sequence = sequence;
    dropout = sizes.style().dropout();
    int width = sequence.elementWidth();
    String name = "transformer." + sequence.name();
    Shape shape = Shape.of(sequence.maxLength(), width);
    places = parameters.uniform(name + ".places", shape, INITIAL_RANGE);
    for (int hidden : sizes.attention()) {
      String block = name + "." + blocks.size();
      blocks.add(
          new Block(
              new LayerNorm(parameters, block + ".before", width),
              new SequenceAttention(parameters, block + ".attention", width, sizes.heads()),
              new LayerNorm(parameters, block + ".between", width),
              new Linear(parameters, block + ".inner", width, hidden),
              new Linear(parameters, block + ".outer", hidden, width)));
    }
    last = new LayerNorm(parameters, name + ".last", width);
  }

  /** The product of the sequence's vector and its target, {@code [B]}. */
  Tensor fit(Features x) {
    Ragged elements = placed(sequence.elements(x));
    for (Block block : blocks.subList(0, blocks.size() - 1)) {
      Ragged normed = elements.with(block.before().apply(elements.values()));
      Tensor attended = block.attention().causal(normed, sequence.maxLength()).values();
      elements = elements.with(block.apply(elements.values(), attended, x.pass(), dropout));
    }
    // Of the last block only the last element is read.
    Block block = blocks.getLast();
    Ragged normed = elements.with(block.before().apply(elements.values()));
    Tensor found = block.attention().apply(normed, normed.pool(SequencePooling.LAST));
    Tensor end = elements.pool(SequencePooling.LAST);
    Tensor vector = last.apply(block.apply(end, found, x.pass(), dropout));
    Tensor present = elements.lengths().cast(DType.F32).gt(Tensor.scalar(0)).reshape(-1, 1);
    Tensor known = present.select(vector, Tensor.scalar(0));
    return known.mul(sequence.query(x)).sum(1);
  }

  private Ragged placed(Ragged rows) {
    Tensor lengths = rows.expand(rows.lengths().cast(DType.F32).reshape(-1, 1)).values();
    Tensor distance = lengths.reshape(-1).sub(rows.positions().cast(DType.F32)).sub(1);
    Tensor place = places.tensor().gather(distance.max(Tensor.scalar(0)).cast(DType.I32));
    float scale = (float) Math.sqrt(sequence.elementWidth());
    return rows.with(rows.values().mul(scale).add(place));
  }
}
