package dev.tern.model.sequences;

import dev.tern.data.Schema;
import dev.tern.model.papers.Sizes;
import dev.tern.model.papers.SlotWidths;
import dev.tern.nn.Activation;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.nn.TargetAttention;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Deep Interest Network (Zhou et al., "Deep Interest Network for Click-Through Rate Prediction",
 * KDD 2018, arXiv:1706.06978): hidden layers read the vectors of a row's slots, its numbers, and
 * for each sequence the sum of its elements, weighed by their {@link TargetAttention} to the
 * candidate.
 */
public final class Din implements Model {
  private final SlotWidths widths;
  private final List<SequenceTarget> sequences;
  private final List<TargetAttention> attentions = new ArrayList<>();
  private final Mlp deep;
  private final Linear out;

  public Din(Sizes sizes, Schema schema, Parameters parameters) {
    widths = sizes.widths();
    sequences = SequenceTarget.of(schema, "DIN", widths);
    Mlp.Style style = sizes.style();
    // Dice needs means over a batch, of which each element of a sequence would be a row.
    Activation activation =
        style.activation() == Activation.DICE ? Activation.PRELU : style.activation();
    for (SequenceTarget sequence : sequences) {
      int target = sequence.targetWidth();
      int element = sequence.elementWidth();
      String name = "attention." + sequence.name();
      List<Integer> hidden = sizes.attention();
      attentions.add(new TargetAttention(parameters, name, target, element, hidden, activation));
    }
    int flat = widths.flat(schema);
    deep = new Mlp(parameters, "deep", flat, sizes.hidden(), style);
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
    for (int q = 0; q < sequences.size(); q++) {
      SequenceTarget sequence = sequences.get(q);
      inputs.add(attentions.get(q).apply(sequence.elements(x), sequence.query(x), x.pass()));
    }
    Tensor flat = Tensor.concat(1, inputs);
    return out.apply(deep.apply(flat, x.pass())).reshape(-1);
  }
}
