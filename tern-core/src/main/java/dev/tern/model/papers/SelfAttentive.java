package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * SASRec (Kang and McAuley, "Self-Attentive Sequential Recommendation", ICDM 2018,
 * arXiv:1808.09781): how well the candidate fits what a {@link CausalTransformer} makes of each
 * sequence before it.
 *
 * <pre>
 * logit = sum over sequences of r . q, and mlp([e_1; ...; e_S; numbers]) where rows have more
 * </pre>
 *
 * <p>{@code r} is the sequence's vector and {@code q} the embedding of what it is compared with,
 * from the same tables. In the paper rows have nothing else; where they have numbers or other
 * slots, hidden layers over all columns are added. The loss is that of the rows' labels: a row with
 * a click and a row with a drawn item are the paper's positive and negative.
 */
public final class SelfAttentive extends FlatModel {
  private final List<CausalTransformer> transformers = new ArrayList<>();
  private final Optional<Deep> deep;

  public SelfAttentive(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    SlotWidths widths = sizes.widths();
    List<SequenceTarget> sequences = SequenceTarget.of(schema, "SASREC", widths);
    int elements = 0;
    int targets = 0;
    for (SequenceTarget sequence : sequences) {
      transformers.add(new CausalTransformer(sizes, sequence, parameters));
      elements += sequence.elementWidth();
      targets = Math.max(targets, sequence.targets().size());
    }
    int pooled = widths.flat(schema) - elements;
    int slots = (int) schema.slots().stream().filter(s -> s.sequence().isEmpty()).count();
    boolean hasMore = schema.denseDim() > 0 || slots > targets;
    deep = hasMore ? Optional.of(new Deep(sizes, pooled, parameters)) : Optional.empty();
  }

  @Override
  public boolean readsSequences() {
    return true;
  }

  @Override
  public Tensor logits(Features x) {
    Tensor fit = transformers.getFirst().fit(x);
    for (CausalTransformer more : transformers.subList(1, transformers.size())) {
      fit = fit.add(more.fit(x));
    }
    Tensor fits = fit;
    return deep.map(d -> fits.add(d.logit(x.flat(x.embedded()), x.pass()))).orElse(fits);
  }
}
