package dev.tern.model.sequences;

import dev.tern.data.Schema;
import dev.tern.model.papers.Sizes;
import dev.tern.model.papers.SlotWidths;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Behavior Sequence Transformer (Chen et al., "Behavior Sequence Transformer for E-commerce
 * Recommendation in Alibaba", 2019, arXiv:1905.06874): hidden layers read the vectors of a row's
 * slots, its numbers, and what a {@link BehaviorTransformer} makes of the candidate after each
 * sequence.
 */
public final class Bst implements Model {
  private final SlotWidths widths;
  private final List<BehaviorTransformer> transformers = new ArrayList<>();
  private final Mlp deep;
  private final Linear out;

  public Bst(Sizes sizes, Schema schema, Parameters parameters) {
    widths = sizes.widths();
    List<SequenceTarget> sequences = SequenceTarget.of(schema, "BST", widths);
    int inputs = widths.flat(schema);
    for (SequenceTarget sequence : sequences) {
      BehaviorTransformer transformer = new BehaviorTransformer(sizes, sequence, parameters);
      transformers.add(transformer);
      inputs += transformer.outputs() - sequence.elementWidth();
    }
    deep = new Mlp(parameters, "deep", inputs, sizes.hidden(), sizes.style());
    out = new Linear(parameters, "out", deep.outputs(), 1);
  }

  @Override
  public int embeddingWidth() {
    return widths.all();
  }

  @Override
  public int embeddingWidth(String table) {
    return widths.of(table);
  }

  @Override
  public boolean readsSequences() {
    return true;
  }

  @Override
  public Tensor logits(Features x) {
    List<Tensor> inputs = new ArrayList<>(List.of(x.flat(x.embedded())));
    transformers.forEach(transformer -> inputs.add(transformer.apply(x)));
    Tensor flat = Tensor.concat(1, inputs);
    return out.apply(deep.apply(flat, x.pass())).reshape(-1);
  }
}
