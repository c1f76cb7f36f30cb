package dev.tern.model.sequences;

import dev.tern.base.Shape;
import dev.tern.nn.Features;
import dev.tern.nn.Parameters;
import dev.tern.nn.RecurrentUnit;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.SequencePooling;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * The interest that one sequence led to, by {@link Dien}.
 *
 * @param states a unit over elements
 * @param attention compares states with the candidate, {@code [target, element]}
 * @param evolution a unit over states
 */
record Interest(
    SequenceTarget sequence, RecurrentUnit states, Variable attention, RecurrentUnit evolution) {
  static Interest of(SequenceTarget sequence, Parameters parameters) {
    String name = "interest." + sequence.name();
    int width = sequence.elementWidth();
    Shape shape = Shape.of(sequence.targetWidth(), width);
    float range = (float) (1 / Math.sqrt(width));
    return new Interest(
        sequence,
        new RecurrentUnit(parameters, name + ".states", width, width),
        parameters.uniform(name + ".attention", shape, range),
        new RecurrentUnit(parameters, name + ".evolution", width, width));
  }

  /**
   * The last state of the second unit, {@code [B, element]}.
   *
   * @param auxiliary factor of the loss of {@link NextElement}
   */
  Tensor last(Features x, float auxiliary) {
    Ragged elements = sequence.elements(x);
    Ragged found = states.apply(elements);
    if (auxiliary > 0 && x.pass().isTraining()) {
      Tensor loss = NextElement.loss(found, elements);
      x.pass().addLoss("next element of " + sequence.name(), loss.mul(auxiliary));
    }
    Tensor wanted = found.expand(sequence.query(x).matmul(attention.tensor())).values();
    Tensor fit = found.values().mul(wanted).sumKeep(1);
    Tensor shares = found.with(fit).softmax().values().reshape(-1);
    return evolution.apply(found.weighted(shares)).pool(SequencePooling.LAST);
  }
}
