package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Levels;
import dev.tern.tensor.PlainStates;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Equations of layers over sequences. Their input is one matrix: the elements of three sequences,
 * then a target for each.
 */
final class SequenceEquations {
  private static final int B = 5;
  private static final int W = 3;

  /** The input. */
  static final Shape SHAPE = Shape.of(B + 3, W);

  /** Of the first {@code B} rows; one target each follows them. */
  private static final int[] LENGTHS = {2, 0, 3};

  /** As {@link #LENGTHS}, without an empty sequence. */
  private static final int[] FILLED = {2, 1, 2};

  static Ragged elements(Tensor x) {
    return Ragged.of(x.slice(0, 0, B), Levels.ofLengths(LENGTHS));
  }

  static Ragged whole(Tensor x) {
    return Ragged.of(x.slice(0, 0, B), Levels.ofLengths(FILLED));
  }

  static Tensor targets(Tensor x) {
    return x.slice(0, B, B + LENGTHS.length);
  }

  private static double[] row(double[] x, int row, int count) {
    return Arrays.copyOfRange(x, row * W, row * W + count);
  }

  private static double[] linear(Map<String, double[]> v, String name, double[] x) {
    double[] bias = v.get(name + ".bias");
    double[] result = LayerEquationsTest.product(x, v.get(name + ".weight"), bias.length);
    Arrays.setAll(result, i -> result[i] + bias[i]);
    return result;
  }

  private static double[] joined(double[]... parts) {
    return Arrays.stream(parts).flatMapToDouble(Arrays::stream).toArray();
  }

  /** States of {@code units} numbers. */
  static double[] states(Map<String, double[]> v, int units) {
    double[] all = new double[B * units];
    int row = 0;
    for (int length : LENGTHS) {
      double[][] gates = new double[length][];
      double[] ones = new double[length];
      Arrays.fill(ones, 1);
      for (int t = 0; t < length; t++) {
        gates[t] = linear(v, "l.gates", row(v.get("x"), row + t, W));
      }
      for (double[] state : PlainStates.of(gates, ones, v.get("l.recurrent"))) {
        System.arraycopy(state, 0, all, row++ * units, units);
      }
    }
    return all;
  }

  static double[] targetAttention(Map<String, double[]> v) {
    double[] x = v.get("x");
    double[] sums = new double[LENGTHS.length * W];
    int element = 0;
    for (int s = 0; s < LENGTHS.length; s++) {
      double[] q = row(x, B + s, 2);
      for (int t = 0; t < LENGTHS[s]; t++) {
        double[] k = row(x, element++, W);
        double[] input =
            joined(
                q,
                k,
                new double[] {q[0] - k[0], q[1] - k[1]},
                new double[] {q[0] * k[0], q[1] * k[1]});
        double[] first =
            LayerEquationsTest.prelu(linear(v, "l.0", input), v.get("l.0.activation.slope"));
        double[] second =
            LayerEquationsTest.prelu(
                linear(v, "l.rest.0", first), v.get("l.rest.0.activation.slope"));
        double factor = linear(v, "l.out", second)[0];
        for (int j = 0; j < W; j++) {
          sums[s * W + j] += factor * k[j];
        }
      }
    }
    return sums;
  }

  /** With heads of one number each. */
  static double[] attention(Map<String, double[]> v, boolean queries) {
    double[] x = v.get("x");
    int[] lengths = queries ? FILLED : LENGTHS;
    List<double[]> found = new ArrayList<>();
    int begin = 0;
    for (int s = 0; s < lengths.length; s++) {
      for (int i = 0; i < (queries ? 1 : lengths[s]); i++) {
        double[] q = linear(v, "l.queries", row(x, queries ? B + s : begin + i, W));
        double[] sum = new double[W];
        double[] weights = new double[W];
        for (int t = begin; t < begin + lengths[s]; t++) {
          double[] k = linear(v, "l.keys", row(x, t, W));
          double[] value = linear(v, "l.values", row(x, t, W));
          for (int h = 0; h < W; h++) {
            double weight = Math.exp(q[h] * k[h]);
            weights[h] += weight;
            sum[h] += weight * value[h];
          }
        }
        Arrays.setAll(sum, h -> sum[h] / weights[h]);
        found.add(linear(v, "l.out", sum));
      }
      begin += lengths[s];
    }
    return joined(found.toArray(double[][]::new));
  }

  private SequenceEquations() {}
}
