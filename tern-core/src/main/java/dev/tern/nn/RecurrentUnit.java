package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * A gated recurrent unit over sequences (GRU; Cho et al. 2014, arXiv:1406.1078). From the state
 * {@code p} before an element {@code x}, zeros at first, comes the state {@code h} after it:
 *
 * <pre>
 * [xu; xr; xc] = x W + b,   [su; sr; sc] = p U
 * u = a sigmoid(xu + su),   r = sigmoid(xr + sr),   c = tanh(xc + r * sc)
 * h = (1 - u) * p + u * c
 * </pre>
 *
 * <p>{@code a} is the weight of the element, or 1. Weights of an attention make it the AUGRU of
 * DIEN (Zhou et al. 2019, arXiv:1809.03672, section 4.3): elements of weight 0 leave the state as
 * it was.
 */
public final class RecurrentUnit {
  private final Linear gates;
  private final Variable recurrent;

  /** A unit over elements of {@code inputs} numbers, with states of {@code units}. */
  public RecurrentUnit(Parameters parameters, String name, int inputs, int units) {
    float range = (float) (1 / Math.sqrt(units));
    gates = new Linear(parameters, name + ".gates", inputs, 3 * units);
    recurrent = parameters.uniform(name + ".recurrent", Shape.of(units, 3 * units), range);
  }

  /** The states after each element, {@code [n, units]}, from elements {@code [n, inputs]}. */
  public Ragged apply(Ragged elements) {
    Tensor given = gates.apply(elements.values());
    return elements.with(given).gru(recurrent.tensor());
  }
}
