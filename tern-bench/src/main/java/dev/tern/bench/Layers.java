package dev.tern.bench;

import dev.tern.bench.Layer.Input;
import dev.tern.internal.ir.Pointwise;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** The layers that {@code bench layers} times, each with its equation in double precision. */
final class Layers {
  static final long SEED = 11;
  static final float EPSILON = 1e-5f;
  private static final float RATE = 0.2f;

  private Layers() {}

  /**
   * @param seed of dropout, holding {@link #SEED}
   */
  static List<Layer> all(int batch, Variable seed) {
    List<Layer> all = new ArrayList<>();
    for (int columns : new int[] {64, 1000}) {
      all.add(softmax(batch, columns));
      all.add(logSoftmax(batch, columns));
    }
    for (int columns : new int[] {64, 400}) {
      all.add(layerNorm(batch, columns));
    }
    all.add(BatchLayers.batchNorm(batch, 400));
    all.add(bce(batch));
    all.add(bce(16 * batch));
    all.add(secondOrder(batch, 26, 16));
    all.add(dotInteraction(batch, 27, 16));
    all.add(weightedProducts(batch, 26, 16));
    all.add(crossVector(batch, 429));
    all.add(crossMatrix(batch, 429));
    all.add(crossLowRank(batch, 429, 64));
    all.add(prelu(batch, 400));
    all.add(BatchLayers.dice(batch, 400));
    all.add(dropout(batch, 400, seed));
    return all;
  }

  /** Hands each row of {@code columns} numbers of a copy of {@code x} to {@code change}. */
  private static double[] byRow(double[] x, int columns, Consumer<double[]> change) {
    double[] result = new double[x.length];
    for (int from = 0; from < x.length; from += columns) {
      double[] row = Arrays.copyOfRange(x, from, from + columns);
      change.accept(row);
      System.arraycopy(row, 0, result, from, columns);
    }
    return result;
  }

  private static Layer softmax(int batch, int columns) {
    return new Layer(
        "softmax",
        new int[] {batch, columns},
        List.of(Input.of(batch, columns)),
        in -> in.get(0).softmax(1),
        in ->
            byRow(
                in[0],
                columns,
                row -> {
                  double sum = Arrays.stream(row).map(Math::exp).sum();
                  Arrays.setAll(row, i -> Math.exp(row[i]) / sum);
                }));
  }

  private static Layer logSoftmax(int batch, int columns) {
    return new Layer(
        "log-softmax",
        new int[] {batch, columns},
        List.of(Input.of(batch, columns)),
        in -> in.get(0).logSoftmax(1),
        in ->
            byRow(
                in[0],
                columns,
                row -> {
                  double log = Math.log(Arrays.stream(row).map(Math::exp).sum());
                  Arrays.setAll(row, i -> row[i] - log);
                }));
  }

  static void normalise(double[] x, double epsilon) {
    double mean = Arrays.stream(x).average().orElse(0);
    double variance = Arrays.stream(x).map(v -> (v - mean) * (v - mean)).average().orElse(0);
    Arrays.setAll(x, i -> (x[i] - mean) / Math.sqrt(variance + epsilon));
  }

  static double[] affine(double[] x, double[] gamma, double[] beta) {
    double[] result = new double[x.length];
    Arrays.setAll(result, i -> x[i] * gamma[i % gamma.length] + beta[i % beta.length]);
    return result;
  }

  private static Layer layerNorm(int batch, int columns) {
    return new Layer(
        "layer norm",
        new int[] {batch, columns},
        List.of(Input.of(batch, columns), Input.of(columns), Input.of(columns)),
        in -> in.get(0).layerNorm(in.get(1), in.get(2), EPSILON),
        in -> affine(byRow(in[0], columns, row -> normalise(row, EPSILON)), in[1], in[2]));
  }

  private static Layer bce(int batch) {
    return new Layer(
        "bce with logits",
        new int[] {batch},
        List.of(Input.of(batch), Input.labels(batch)),
        in -> in.get(0).bceWithLogits(in.get(1)),
        in -> {
          double sum = 0;
          for (int i = 0; i < batch; i++) {
            sum += Math.log1p(Math.exp(in[0][i])) - in[0][i] * in[1][i];
          }
          return new double[] {sum / batch};
        });
  }

  private static double dot(double[] a, int from, double[] b, int other, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += a[from + i] * b[other + i];
    }
    return sum;
  }

  /** The pairs' dot products, each row's in order. */
  private static double[] pairs(double[] x, int batch, int slots, int width) {
    double[] result = new double[batch * slots * (slots - 1) / 2];
    int at = 0;
    for (int row = 0; row < batch; row++) {
      for (int i = 0; i < slots; i++) {
        for (int j = 0; j < i; j++) {
          int base = row * slots;
          result[at++] = dot(x, (base + i) * width, x, (base + j) * width, width);
        }
      }
    }
    return result;
  }

  private static Layer secondOrder(int batch, int slots, int width) {
    return new Layer(
        "fm second order",
        new int[] {batch, slots, width},
        List.of(Input.of(batch, slots, width)),
        in -> in.get(0).pairSums(),
        in -> {
          double[] pairs = pairs(in[0], batch, slots, width);
          int each = slots * (slots - 1) / 2;
          double[] result = new double[batch];
          for (int i = 0; i < pairs.length; i++) {
            result[i / each] += pairs[i];
          }
          return result;
        });
  }

  private static Layer dotInteraction(int batch, int vectors, int width) {
    return new Layer(
        "dot interaction",
        new int[] {batch, vectors, width},
        List.of(Input.of(batch, vectors, width)),
        in -> in.get(0).dotInteraction(),
        in -> pairs(in[0], batch, vectors, width));
  }

  private static Layer weightedProducts(int batch, int vectors, int width) {
    int each = vectors * (vectors - 1) / 2;
    return new Layer(
        "field-weighted products",
        new int[] {batch, vectors, width},
        List.of(Input.of(batch, vectors, width), Input.weights(each, 1)),
        in -> in.get(0).dotInteraction().matmul(in.get(1)).reshape(-1),
        in -> product(pairs(in[0], batch, vectors, width), in[1], 1));
  }

  /** {@code [n, k]} by {@code [k, columns]}. */
  private static double[] product(double[] a, double[] b, int columns) {
    int inner = b.length / columns;
    double[] result = new double[a.length / inner * columns];
    for (int row = 0; row < a.length / inner; row++) {
      for (int k = 0; k < inner; k++) {
        double factor = a[row * inner + k];
        for (int j = 0; j < columns; j++) {
          result[row * columns + j] += factor * b[k * columns + j];
        }
      }
    }
    return result;
  }

  private static Layer crossVector(int batch, int width) {
    return new Layer(
        "cross v1",
        new int[] {batch, width},
        List.of(
            Input.of(batch, width),
            Input.of(batch, width),
            Input.weights(width, 1),
            Input.of(width)),
        in -> in.get(0).mul(in.get(1).matmul(in.get(2))).add(in.get(3)).add(in.get(1)),
        in -> {
          double[] result = new double[batch * width];
          for (int i = 0; i < batch; i++) {
            double product = dot(in[1], i * width, in[2], 0, width);
            for (int j = 0; j < width; j++) {
              int at = i * width + j;
              result[at] = in[0][at] * product + in[3][j] + in[1][at];
            }
          }
          return result;
        });
  }

  private static Layer crossMatrix(int batch, int width) {
    return new Layer(
        "cross v2",
        new int[] {batch, width},
        List.of(
            Input.of(batch, width),
            Input.of(batch, width),
            Input.weights(width, width),
            Input.of(width)),
        in -> in.get(0).mul(in.get(1).matmul(in.get(2)).add(in.get(3))).add(in.get(1)),
        in -> crossed(in[0], in[1], product(in[1], in[2], width), in[3]));
  }

  private static double[] crossed(double[] x, double[] c, double[] product, double[] bias) {
    double[] result = new double[x.length];
    Arrays.setAll(result, i -> x[i] * (product[i] + bias[i % bias.length]) + c[i]);
    return result;
  }

  private static Layer crossLowRank(int batch, int width, int rank) {
    return new Layer(
        "cross v2 low rank",
        new int[] {batch, width, rank},
        List.of(
            Input.of(batch, width),
            Input.of(batch, width),
            Input.weights(width, rank),
            Input.weights(rank, width),
            Input.of(width)),
        in -> {
          Tensor product = in.get(1).matmul(in.get(2)).matmul(in.get(3));
          return in.get(0).mul(product.add(in.get(4))).add(in.get(1));
        },
        in -> crossed(in[0], in[1], product(product(in[1], in[2], rank), in[3], width), in[4]));
  }

  private static Layer prelu(int batch, int columns) {
    return new Layer(
        "prelu",
        new int[] {batch, columns},
        List.of(Input.of(batch, columns), Input.of(columns)),
        in -> in.get(0).gt(Tensor.scalar(0)).select(in.get(0), in.get(0).mul(in.get(1))),
        in -> {
          double[] result = new double[batch * columns];
          Arrays.setAll(result, i -> in[0][i] > 0 ? in[0][i] : in[0][i] * in[1][i % columns]);
          return result;
        });
  }

  private static Layer dropout(int batch, int columns, Variable seed) {
    return new Layer(
        "dropout",
        new int[] {batch, columns},
        List.of(Input.of(batch, columns)),
        in -> Pass.training(seed).dropout(in.get(0), RATE),
        in -> {
          double[] result = new double[batch * columns];
          Arrays.setAll(
              result, i -> Pointwise.uniform(SEED, 0, i) >= RATE ? in[0][i] / (1.0 - RATE) : 0);
          return result;
        });
  }
}
