package dev.tern.bench;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A layer of CTR models on given sizes; {@code peers/layers.py} has each under the same name.
 *
 * @param build the result as a tensor
 * @param check the result of the same inputs in double precision, row-major
 */
record Layer(
    String name,
    int[] sizes,
    List<Input> inputs,
    Function<List<Tensor>, Tensor> build,
    Function<double[][], double[]> check) {

  /**
   * An input of numbers uniform in [low, high).
   *
   * @param isLearned whether gradients reach it
   */
  record Input(Shape shape, double low, double high, boolean isLearned) {
    static Input of(int... sizes) {
      return new Input(Shape.of(sizes), -2, 2, true);
    }

    /** Small weights, so that results of long products stay near 1. */
    static Input weights(int... sizes) {
      return new Input(Shape.of(sizes), -0.1, 0.1, true);
    }

    static Input labels(int... sizes) {
      return new Input(Shape.of(sizes), 0, 1, false);
    }
  }

  /** Name and sizes. */
  String title() {
    return name
        + " "
        + IntStream.of(sizes).mapToObj(Integer::toString).collect(Collectors.joining("x"));
  }

  String request(boolean backward) {
    return String.format(
        Locale.ROOT,
        "{\"op\": \"layer\", \"name\": \"%s\", \"sizes\": [%s], \"backward\": %b}",
        name,
        IntStream.of(sizes).mapToObj(Integer::toString).collect(Collectors.joining(", ")),
        backward);
  }
}
