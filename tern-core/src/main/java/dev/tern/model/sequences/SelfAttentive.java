package dev.tern.model.sequences;

import dev.tern.data.Schema;
import dev.tern.model.papers.Deep;
import dev.tern.model.papers.FlatModel;
import dev.tern.model.papers.Sizes;
import dev.tern.model.papers.SlotWidths;
import dev.tern.nn.Features;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * How well the candidate fits what layers of attention make of each sequence before it: SASRec
 * (Kang and McAuley, "Self-Attentive Sequential Recommendation", ICDM 2018, arXiv:1808.09781) with
 * a {@link CausalTransformer}, HSTU with a {@link Transducer}.
 *
 * <pre>
 * logit = sum over sequences of {@link SequenceFit}, and mlp([e_1; ...; e_S; numbers]) where rows have more
 * </pre>
 *
 * <p>In the papers rows have nothing but a sequence and its candidate; where they have numbers or
 * other slots, hidden layers over all columns are added. The loss is that of the rows' labels: a
 * row with a click and a row with a drawn item are SASRec's positive and negative.
 */
public final class SelfAttentive extends FlatModel {
  /** Makes the layers of a sequence. */
  @FunctionalInterface
  private interface Layers {
    SequenceFit over(Sizes sizes, SequenceTarget sequence, Parameters parameters);
  }

  private final List<SequenceFit> fits = new ArrayList<>();
  private final Optional<Deep> deep;

  private SelfAttentive(
      String model, Layers layers, Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    SlotWidths widths = sizes.widths();
    int elements = 0;
    Set<Integer> targets = new HashSet<>();
    for (SequenceTarget sequence : SequenceTarget.of(schema, model, widths)) {
      fits.add(layers.over(sizes, sequence, parameters));
      elements += sequence.elementWidth();
      targets.addAll(sequence.targets());
    }
    int pooled = widths.flat(schema) - elements;
    int slots = (int) schema.slots().stream().filter(s -> s.sequence().isEmpty()).count();
    boolean hasMore = schema.denseDim() > 0 || slots > targets.size();
    deep = hasMore ? Optional.of(new Deep(sizes, pooled, parameters)) : Optional.empty();
  }

  /** SASRec. */
  public static SelfAttentive sasrec(Sizes sizes, Schema schema, Parameters parameters) {
    return new SelfAttentive("SASREC", CausalTransformer::new, sizes, schema, parameters);
  }

  /** HSTU. */
  public static SelfAttentive hstu(Sizes sizes, Schema schema, Parameters parameters) {
    return new SelfAttentive("HSTU", Transducer::new, sizes, schema, parameters);
  }

  @Override
  public boolean readsSequences() {
    return true;
  }

  @Override
  public Tensor logits(Features x) {
    Tensor fit = fits.getFirst().fit(x);
    for (SequenceFit more : fits.subList(1, fits.size())) {
      fit = fit.add(more.fit(x));
    }
    Tensor sum = fit;
    return deep.map(d -> sum.add(d.logit(x.flat(x.embedded()), x.pass()))).orElse(sum);
  }
}
