package dev.tern.bench;

import dev.tern.tensor.Computation;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Compares a layer's results with its equation in double precision, and its gradients, along a
 * random direction, with the equation's differences.
 */
final class LayerCheck {
  private static final double STEP = 1e-6;
  private static final double TOLERANCE = 1e-4;
  private static final double SLOPE_TOLERANCE = 5e-3;

  private LayerCheck() {}

  /**
   * @param outputs the result, then the gradient of each learned input, or the result alone
   */
  static void run(
      Layer layer,
      List<Variable> inputs,
      Variable upstream,
      Computation computation,
      List<Tensor> outputs) {
    double[][] at = inputs.stream().map(input -> doubles(input.toArray())).toArray(double[][]::new);
    double[] expected = layer.check().apply(at);
    double[] got = output(computation, outputs, 0);
    for (int i = 0; i < expected.length; i++) {
      if (!(Math.abs(got[i] - expected[i]) <= TOLERANCE * (1 + Math.abs(expected[i])))) {
        throw wrong(layer, "element " + i, got[i], expected[i]);
      }
    }
    if (outputs.size() > 1) {
      slopes(layer, at, doubles(upstream.toArray()), computation, outputs);
    }
  }

  private static void slopes(
      Layer layer,
      double[][] at,
      double[] upstream,
      Computation computation,
      List<Tensor> outputs) {
    int next = 1;
    for (int k = 0; k < at.length; k++) {
      if (!layer.inputs().get(k).isLearned()) {
        continue;
      }
      double[] gradient = output(computation, outputs, next++);
      SplittableRandom random = new SplittableRandom(k);
      double[] direction = random.doubles(gradient.length, -1, 1).toArray();
      double slope = 0;
      double squares = 0;
      for (int i = 0; i < gradient.length; i++) {
        double term = gradient[i] * direction[i];
        slope += term;
        squares += term * term;
      }
      double up = weighted(layer, moved(at, k, direction, STEP), upstream);
      double down = weighted(layer, moved(at, k, direction, -STEP), upstream);
      double expected = (up - down) / (2 * STEP);
      if (!(Math.abs(slope - expected) <= SLOPE_TOLERANCE * Math.sqrt(squares))) {
        throw wrong(layer, "gradient of input " + k, slope, expected);
      }
    }
  }

  private static double[][] moved(double[][] at, int input, double[] direction, double step) {
    double[][] moved = at.clone();
    moved[input] = at[input].clone();
    for (int i = 0; i < direction.length; i++) {
      moved[input][i] += step * direction[i];
    }
    return moved;
  }

  private static double weighted(Layer layer, double[][] at, double[] upstream) {
    double[] result = layer.check().apply(at);
    double sum = 0;
    for (int i = 0; i < result.length; i++) {
      sum += result[i] * upstream[i];
    }
    return sum;
  }

  private static double[] output(Computation computation, List<Tensor> outputs, int index) {
    float[] values = new float[outputs.get(index).shape().elements()];
    computation.copyOutput(index, values, 0);
    return doubles(values);
  }

  private static double[] doubles(float[] values) {
    double[] result = new double[values.length];
    for (int i = 0; i < result.length; i++) {
      result[i] = values[i];
    }
    return result;
  }

  private static IllegalStateException wrong(
      Layer layer, String where, double got, double expected) {
    return new IllegalStateException(
        "layers " + layer.title() + ", " + where + ": got " + got + ", expected " + expected);
  }
}
