package dev.tern.model.graph;

import dev.tern.base.Shape;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/** A layer with its parameters: from its inputs to its outputs. */
@FunctionalInterface
interface GraphFunction {
  List<Tensor> apply(List<Tensor> inputs, Pass pass);

  /** A function of one tensor. */
  static GraphFunction of(UnaryOperator<Tensor> one) {
    return (in, _) -> List.of(one.apply(in.getFirst()));
  }

  /** Throws if a shape is not as the op needs it. */
  static void require(boolean holds, Shape got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "got the input %s, expected %s".formatted(text(got), expected));
    }
  }

  /** A shape that was found for one row: its first dimension is that many for each. */
  static String text(Shape shape) {
    int[] sizes = shape.toArray();
    String rest =
        Arrays.toString(Arrays.copyOfRange(sizes, Math.min(1, sizes.length), sizes.length));
    String rows = sizes.length > 0 && sizes[0] != 1 ? sizes[0] + " * B" : "B";
    return sizes.length < 2 ? "[" + rows + "]" : "[" + rows + ", " + rest.substring(1);
  }
}
