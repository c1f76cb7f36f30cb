package dev.tern.model.sequences;

import dev.tern.model.papers.Sizes;
import dev.tern.nn.LayerNorm;
import dev.tern.nn.Linear;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.nn.SequenceAttention;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.SequencePooling;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * The transformer of SASRec over one sequence, whose elements see those up to themselves:
 *
 * <pre>
 * s = x + attention(norm(x)),   y = s + W2 relu(W1 norm(s) + b1) + b2
 * </pre>
 */
final class CausalTransformer extends SequenceFit {
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

  private final List<Block> blocks = new ArrayList<>();
  private final int longest;
  private final float dropout;

  /** Blocks with the feed-forward widths that {@code sizes} has for the attention, one each. */
  CausalTransformer(Sizes sizes, SequenceTarget sequence, Parameters parameters) {
    super("SASREC", "transformer." + sequence.name(), sequence, parameters);
    String name = "transformer." + sequence.name();
    longest = sequence.maxLength();
    dropout = sizes.style().dropout();
    int width = sequence.elementWidth();
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
  }

  @Override
  Tensor end(Ragged elements, Pass pass) {
    Ragged x = elements;
    for (Block block : blocks.subList(0, blocks.size() - 1)) {
      Ragged normed = x.with(block.before().apply(x.values()));
      Tensor attended = block.attention().causal(normed, longest).values();
      x = x.with(block.apply(x.values(), attended, pass, dropout));
    }
    // Of the last block only the last element is read.
    Block block = blocks.getLast();
    Ragged normed = x.with(block.before().apply(x.values()));
    Tensor found = block.attention().apply(normed, normed.pool(SequencePooling.LAST));
    return block.apply(x.pool(SequencePooling.LAST), found, pass, dropout);
  }
}
