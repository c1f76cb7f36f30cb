package dev.tern.model.papers;

import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.LayerNorm;
import dev.tern.nn.Linear;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.nn.SelfAttention;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;

/**
 * FT-Transformer (Gorishniy et al., "Revisiting Deep Learning Models for Tabular Data", 2021,
 * arXiv:2106.11959): a transformer over the fields of a row. Each embedding is a token, each number
 * scales a learned vector to a token, and the output reads a learned token in front. Blocks
 * normalize first. Each hidden width of the configuration is the feed-forward width of one block.
 */
public final class FieldTransformer implements Model {
  private static final float INITIAL_RANGE = 0.0173f;

  /** {@code x + attention(norm(x))}, then {@code x + W1 relu(W0 norm(x))}. */
  private record Block(
      LayerNorm before, SelfAttention attention, LayerNorm between, Linear inner, Linear outer) {
    Tensor apply(Tensor x, Pass pass, float dropout) {
      int tokens = x.shape().size(0) * x.shape().size(1);
      int width = x.shape().size(2);
      Tensor attended = x.add(attention.apply(before.apply(x)));
      Tensor flat = between.apply(attended).reshape(tokens, width);
      Tensor hidden = pass.dropout(inner.apply(flat).relu(), dropout);
      return attended.add(outer.apply(hidden).reshape(x.shape().toArray()));
    }
  }

  private final int width;
  private final float dropout;
  private final Variable first;
  private final Variable numberWeights;
  private final Variable numberBias;
  private final List<Block> blocks = new ArrayList<>();
  private final LayerNorm last;
  private final Linear out;

  public FieldTransformer(Sizes sizes, Schema schema, Parameters parameters) {
    width = sizes.embedding();
    dropout = sizes.style().dropout();
    int numbers = schema.denseDim();
    first = parameters.uniform("first", Shape.of(1, width), INITIAL_RANGE);
    numberWeights = parameters.uniform("numbers.weight", Shape.of(numbers, width), INITIAL_RANGE);
    numberBias = parameters.uniform("numbers.bias", Shape.of(numbers, width), INITIAL_RANGE);
    for (int hidden : sizes.hidden()) {
      blocks.add(block(sizes, parameters, "block." + blocks.size(), hidden));
    }
    last = new LayerNorm(parameters, "last.norm", width);
    out = new Linear(parameters, "out", width, 1);
  }

  private static Block block(Sizes sizes, Parameters parameters, String name, int hidden) {
    int width = sizes.embedding();
    return new Block(
        new LayerNorm(parameters, name + ".before", width),
        new SelfAttention(parameters, name + ".attention", width, sizes.heads()),
        new LayerNorm(parameters, name + ".between", width),
        new Linear(parameters, name + ".inner", width, hidden),
        new Linear(parameters, name + ".outer", hidden, width));
  }

  @Override
  public int embeddingWidth() {
    return width;
  }

  @Override
  public Tensor logits(Features x) {
    int batch = x.dense().shape().size(0);
    int numbers = x.dense().shape().size(1);
    Tensor ofNumbers =
        x.dense().reshape(batch, numbers, 1).mul(numberWeights.tensor()).add(numberBias.tensor());
    Tensor gathering = first.tensor().broadcast(Shape.of(batch, 1, width));
    Tensor tokens = Tensor.concat(1, List.of(gathering, ofNumbers, x.embedded()));
    for (Block block : blocks) {
      tokens = block.apply(tokens, x.pass(), dropout);
    }
    Tensor gathered = last.apply(tokens.slice(1, 0, 1).reshape(batch, width)).relu();
    return out.apply(gathered).reshape(-1);
  }
}
