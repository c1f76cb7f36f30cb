package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.SequencePooling;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;

/**
 * The sum of the elements of a sequence, each times how much it has to do with a target (the local
 * activation unit of DIN, Zhou et al. 2018, arXiv:1706.06978, equation 3):
 *
 * <pre>
 * u = a_1 k_1 + ... + a_T k_T,   a_t = net([q; k_t; q - k_t; q * k_t])
 * </pre>
 *
 * <p>The factors {@code a_t} are not normalized: with two elements that fit the target, {@code u}
 * is larger than with one. An empty sequence gives zeros. For example, factors 0.5 and 2 and the
 * elements (1, 0) and (0, 1) give (0.5, 2).
 *
 * <p>Elements may be wider than the target. The differences and products are then of their first
 * columns.
 */
public final class TargetAttention {
  private final Variable weight;
  private final Variable bias;
  private final Activation.Function activation;
  private final Mlp rest;
  private final Linear out;
  private final int target;
  private final int element;

  /**
   * Attention with hidden layers.
   *
   * @param target numbers of a target
   * @param element numbers of an element, as many or more
   * @param hidden widths of the hidden layers, one or more
   * @param activation of the hidden layers; one without statistics of the batch
   */
  public TargetAttention(
      Parameters parameters,
      String name,
      int target,
      int element,
      List<Integer> hidden,
      Activation activation) {
    if (hidden.isEmpty() || element < target || activation == Activation.DICE) {
      throw new IllegalArgumentException(
          "attention: got hidden layers %s with %s for targets of %d numbers and elements of %d, expected one layer or more with RELU or PRELU and elements as wide as targets"
              .formatted(hidden, activation, target, element));
    }
    this.target = target;
    this.element = element;
    int inputs = 3 * target + element;
    int first = hidden.getFirst();
    float range = (float) (1 / Math.sqrt(inputs));
    weight = parameters.uniform(name + ".0.weight", Shape.of(inputs, first), range);
    bias = parameters.uniform(name + ".0.bias", Shape.of(first), range);
    this.activation = activation.over(parameters, name + ".0.activation", first);
    Mlp.Style style = new Mlp.Style(activation, false, 0);
    List<Integer> others = hidden.subList(1, hidden.size());
    rest = new Mlp(parameters, name + ".rest", first, others, style);
    out = new Linear(parameters, name + ".out", rest.outputs(), 1);
  }

  /**
   * The sums, {@code [B, element]}.
   *
   * @param sequence {@code B} sequences of values {@code [n, element]}
   * @param query the target of each, {@code [B, target]}
   */
  public Tensor apply(Ragged sequence, Tensor query, Pass pass) {
    Tensor sums = elementSums(sequence, query).add(sequence.expand(targetSums(query)).values());
    Tensor hidden = rest.apply(activation.apply(sums, pass), pass);
    Tensor factors = out.apply(hidden).reshape(-1);
    return sequence.weighted(factors).pool(SequencePooling.SUM);
  }

  /**
   * What the first layer makes of a target alone, once for each sequence: the weights of {@code q}
   * and of {@code q - k} both multiply {@code q}.
   */
  private Tensor targetSums(Tensor query) {
    return query.matmul(part(0, target).add(differences())).add(bias.tensor());
  }

  /** What the first layer makes of {@code k} and {@code q * k}. */
  private Tensor elementSums(Ragged sequence, Tensor query) {
    Tensor keys = sequence.values();
    Tensor shared = element == target ? keys : keys.slice(1, 0, target);
    Tensor products = shared.mul(sequence.expand(query).values());
    Tensor ofKeys = part(target, target + element);
    Tensor ofShared = ofKeys.slice(0, 0, target).sub(differences());
    Tensor ofProducts = part(2 * target + element, 3 * target + element);
    Tensor others = ofKeys.slice(0, target, element);
    return Tensor.concat(1, List.of(keys, products))
        .matmul(
            Tensor.concat(
                0,
                element == target
                    ? List.of(ofShared, ofProducts)
                    : List.of(ofShared, others, ofProducts)));
  }

  private Tensor differences() {
    return part(target + element, 2 * target + element);
  }

  /** Rows of the weights of the first layer. */
  private Tensor part(int from, int to) {
    return weight.tensor().slice(0, from, to);
  }
}
