package dev.tern.model.sequences;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.model.papers.Sizes;
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
import java.util.stream.IntStream;

/**
 * The transformer of BST over one sequence with its target as the last element. An element is its
 * columns and a learned vector of its place, counted from the target. A block is
 *
 * <pre>
 * s = norm(x + attention(x)),   y = norm(s + W2 leaky(W1 s + b1) + b2)
 * </pre>
 *
 * with {@code leaky(z) = max(z, 0.01 z)}. The result is the target's element of the last block,
 * which therefore computes that element alone.
 */
final class BehaviorTransformer {
  private static final float INITIAL_RANGE = 0.0173f;
  private static final float SLOPE = 0.01f;

  /** A block's layers; all apply to rows {@code [rows, width]}. */
  private record Block(
      SequenceAttention attention, LayerNorm between, Linear inner, Linear outer, LayerNorm after) {
    Tensor apply(Tensor x, Tensor attended, Pass pass, float dropout) {
      Tensor s = between.apply(x.add(pass.dropout(attended, dropout)));
      Tensor z = inner.apply(s);
      Tensor leaky = z.gt(Tensor.scalar(0)).select(z, z.mul(SLOPE));
      return after.apply(s.add(pass.dropout(outer.apply(leaky), dropout)));
    }
  }

  private final SequenceTarget sequence;
  private final Variable places;
  private final List<Block> blocks = new ArrayList<>();
  private final float dropout;
  private final int width;

  /** Blocks with the feed-forward widths that {@code sizes} has for the attention, one each. */
  BehaviorTransformer(Sizes sizes, SequenceTarget sequence, Parameters parameters) {
    if (sequence.targets().size() < sequence.columns()) {
      throw new IllegalArgumentException(
          "model: got the sequence %s with a column that shares no table with another column, expected a target of each for BST; name its table, or give the column a sequence of its own name with DIN"
              .formatted(sequence.name()));
    }
    this.sequence = sequence;
    dropout = sizes.style().dropout();
    int place = sizes.widths().all();
    width = sequence.elementWidth() + place;
    String name = "transformer." + sequence.name();
    Shape shape = Shape.of(sequence.maxLength() + 1, place);
    places = parameters.uniform(name + ".places", shape, INITIAL_RANGE);
    for (int hidden : sizes.attention()) {
      String block = name + "." + blocks.size();
      blocks.add(
          new Block(
              new SequenceAttention(parameters, block + ".attention", width, sizes.heads()),
              new LayerNorm(parameters, block + ".between", width),
              new Linear(parameters, block + ".inner", width, hidden),
              new Linear(parameters, block + ".outer", hidden, width),
              new LayerNorm(parameters, block + ".after", width)));
    }
  }

  /** Numbers of the result. */
  int outputs() {
    return width;
  }

  /** The target's element of the last block, {@code [B, width]}. */
  Tensor apply(Features x) {
    Tensor target = target(x);
    Ragged tokens = Ragged.concat(List.of(elements(sequence.elements(x)), alone(target)));
    for (Block block : blocks.subList(0, blocks.size() - 1)) {
      Tensor attended = block.attention().apply(tokens, sequence.maxLength() + 1).values();
      tokens = tokens.with(block.apply(tokens.values(), attended, x.pass(), dropout));
      target = tokens.pool(SequencePooling.LAST);
    }
    Block last = blocks.getLast();
    return last.apply(target, last.attention().apply(tokens, target), x.pass(), dropout);
  }

  /** The elements with the vectors of their places: 1 for the last, which is next to the target. */
  private Ragged elements(Ragged rows) {
    Tensor lengths = rows.expand(rows.lengths().cast(DType.F32).reshape(-1, 1)).values();
    Tensor distance = lengths.reshape(-1).sub(rows.positions().cast(DType.F32));
    Tensor place = places.tensor().gather(distance.cast(DType.I32));
    return rows.with(Tensor.concat(1, List.of(rows.values(), place)));
  }

  private Tensor target(Features x) {
    Tensor query = sequence.query(x);
    Shape shape = Shape.of(query.shape().size(0), places.shape().size(1));
    Tensor place = places.tensor().slice(0, 0, 1).broadcast(shape);
    return Tensor.concat(1, List.of(query, place));
  }

  /** Sequences of one element each. */
  private static Ragged alone(Tensor rows) {
    int count = rows.shape().size(0);
    int[] offsets = IntStream.rangeClosed(0, count).toArray();
    return Ragged.of(rows, Tensor.ofInts(Shape.of(count + 1), offsets));
  }
}
