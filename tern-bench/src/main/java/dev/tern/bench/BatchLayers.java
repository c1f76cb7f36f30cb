package dev.tern.bench;

import dev.tern.bench.Layer.Input;
import dev.tern.tensor.Tensor;
import java.util.Arrays;
import java.util.List;

/** Layers with the mean and variance of each column over the batch, as {@code dev.tern.nn} has. */
final class BatchLayers {
  private static final float DICE_EPSILON = 1e-8f;

  private BatchLayers() {}

  private static Tensor standardized(Tensor x, float epsilon) {
    Tensor first = x.slice(0, 0, 1).detach();
    Tensor distance = x.sub(first);
    Tensor offset = distance.meanKeep(0);
    Tensor variance = distance.square().meanKeep(0).sub(offset.square()).relu();
    return x.sub(first.add(offset)).mul(variance.add(epsilon).rsqrt());
  }

  private static double[] standardized(double[] x, int columns, double epsilon) {
    double[] result = new double[x.length];
    double[] column = new double[x.length / columns];
    for (int c = 0; c < columns; c++) {
      for (int i = 0; i < column.length; i++) {
        column[i] = x[i * columns + c];
      }
      Layers.normalise(column, epsilon);
      for (int i = 0; i < column.length; i++) {
        result[i * columns + c] = column[i];
      }
    }
    return result;
  }

  static Layer batchNorm(int batch, int columns) {
    return new Layer(
        "batch norm",
        new int[] {batch, columns},
        List.of(Input.of(batch, columns), Input.of(columns), Input.of(columns)),
        in -> standardized(in.get(0), Layers.EPSILON).mul(in.get(1)).add(in.get(2)),
        in -> Layers.affine(standardized(in[0], columns, Layers.EPSILON), in[1], in[2]));
  }

  static Layer dice(int batch, int columns) {
    return new Layer(
        "dice",
        new int[] {batch, columns},
        List.of(Input.of(batch, columns), Input.of(columns)),
        in -> {
          Tensor p = standardized(in.get(0), DICE_EPSILON).sigmoid();
          Tensor alpha = in.get(1);
          return in.get(0).mul(alpha.add(p.mul(Tensor.scalar(1).sub(alpha))));
        },
        in -> {
          double[] z = standardized(in[0], columns, DICE_EPSILON);
          double[] result = new double[z.length];
          Arrays.setAll(
              result,
              i -> {
                double p = 1 / (1 + Math.exp(-z[i]));
                return p * in[0][i] + (1 - p) * in[1][i % columns] * in[0][i];
              });
          return result;
        });
  }
}
