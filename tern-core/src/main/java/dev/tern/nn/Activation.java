package dev.tern.nn;

import dev.tern.tensor.Tensor;
import java.util.function.BiFunction;

/** What follows the linear part of a hidden layer. */
public enum Activation {
  /** {@code max(x, 0)}. */
  RELU,
  /** {@link Prelu}. */
  PRELU,
  /** {@link Dice}. */
  DICE;

  /** Makes one over {@code width} columns. */
  BiFunction<Tensor, Pass, Tensor> over(Parameters parameters, String name, int width) {
    return switch (this) {
      case RELU -> (x, _) -> x.relu();
      case PRELU -> {
        Prelu prelu = new Prelu(parameters, name, width);
        yield (x, _) -> prelu.apply(x);
      }
      case DICE -> new Dice(parameters, name, width)::apply;
    };
  }
}
