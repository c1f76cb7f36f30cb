package dev.tern.model.sequences;

import dev.tern.data.Schema;
import dev.tern.model.papers.Deep;
import dev.tern.model.papers.FlatModel;
import dev.tern.model.papers.Sizes;
import dev.tern.nn.Features;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Deep Interest Evolution Network (Zhou et al., "Deep Interest Evolution Network for Click-Through
 * Rate Prediction", AAAI 2019, arXiv:1809.03672): hidden layers read the vectors of a row's slots,
 * its numbers, and for each sequence the {@link Interest} that it led to.
 *
 * <pre>
 * h_t = GRU(e_1 ... e_t),   a_t = softmax over t of (h_t . (q A)),   s_t = AUGRU(h_1 ... h_t; a)
 * logit = mlp([e_1; ...; e_S; numbers; s_T])
 * </pre>
 *
 * <p>{@code q} is the candidate, and states are as wide as elements. An empty sequence gives zeros.
 * {@link Sizes#auxiliary} is the factor of the loss of {@link NextElement}.
 */
public final class Dien extends FlatModel {
  private final List<Interest> interests = new ArrayList<>();
  private final Deep deep;
  private final float auxiliary;

  public Dien(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    for (SequenceTarget sequence : SequenceTarget.of(schema, "DIEN", sizes.widths())) {
      interests.add(Interest.of(sequence, parameters));
    }
    deep = new Deep(sizes, sizes.widths().flat(schema), parameters);
    auxiliary = sizes.auxiliary();
  }

  @Override
  public boolean readsSequences() {
    return true;
  }

  @Override
  public Tensor logits(Features x) {
    List<Tensor> inputs = new ArrayList<>(List.of(x.flat(x.embedded())));
    interests.forEach(interest -> inputs.add(interest.last(x, auxiliary)));
    return deep.logit(Tensor.concat(1, inputs), x.pass());
  }
}
