package dev.tern.nn;

import dev.tern.tensor.Tensor;

/** What follows the linear part of a hidden layer. */
public enum Activation {
  /** {@code max(x, 0)}. */
  RELU,
  /** {@link Prelu}. */
  PRELU,
  /** {@link Dice}. */
  DICE;

  /** An activation with its parameters. */
  @FunctionalInterface
  interface Function {
    /** {@code [B, width]} to the same shape. */
    Tensor apply(Tensor x, Pass pass);
  }

  /** Makes one over {@code width} columns. */
  Function over(Parameters parameters, String name, int width) {
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
