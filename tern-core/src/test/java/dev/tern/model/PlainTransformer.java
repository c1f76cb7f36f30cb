package dev.tern.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/** {@link FieldTransformer} on one row, in plain Java. */
record PlainTransformer(ModelsTest.Plain row, int heads) {
  double logit() {
    List<double[]> tokens = new ArrayList<>();
    tokens.add(row.vector("first"));
    int width = tokens.getFirst().length;
    double[] weights = row.vector("numbers.weight");
    double[] bias = row.vector("numbers.bias");
    for (int f = 0; f < row.dense().length; f++) {
      double[] token = new double[width];
      for (int i = 0; i < width; i++) {
        token[i] = row.dense()[f] * weights[f * width + i] + bias[f * width + i];
      }
      tokens.add(token);
    }
    tokens.addAll(Arrays.asList(row.embedded()));
    double[][] x = tokens.toArray(double[][]::new);
    for (int b = 0; row.parameters().containsKey("block." + b + ".inner.weight"); b++) {
      x = block("block." + b, x);
    }
    return row.linear("out", relu(norm("last.norm", x[0])))[0];
  }

  private double[][] block(String name, double[][] x) {
    double[][] normed = each(x, token -> norm(name + ".before", token));
    double[][] attended = sum(x, attention(name + ".attention", normed));
    return sum(
        attended,
        each(
            attended,
            token ->
                row.linear(
                    name + ".outer",
                    relu(row.linear(name + ".inner", norm(name + ".between", token))))));
  }

  private double[][] attention(String name, double[][] x) {
    double[][] q = each(x, token -> row.linear(name + ".queries", token));
    double[][] k = each(x, token -> row.linear(name + ".keys", token));
    double[][] v = each(x, token -> row.linear(name + ".values", token));
    int d = q[0].length / heads;
    double[][] joined = new double[x.length][q[0].length];
    for (int t = 0; t < x.length; t++) {
      for (int from = 0; from < q[0].length; from += d) {
        double[] shares = new double[x.length];
        double total = 0;
        for (int u = 0; u < x.length; u++) {
          double dot = 0;
          for (int i = from; i < from + d; i++) {
            dot += q[t][i] * k[u][i];
          }
          shares[u] = Math.exp(dot / Math.sqrt(d));
          total += shares[u];
        }
        for (int u = 0; u < x.length; u++) {
          for (int i = from; i < from + d; i++) {
            joined[t][i] += shares[u] / total * v[u][i];
          }
        }
      }
    }
    return each(joined, token -> row.linear(name + ".out", token));
  }

  private double[] norm(String name, double[] x) {
    double mean = Arrays.stream(x).average().orElseThrow();
    double variance = Arrays.stream(x).map(v -> (v - mean) * (v - mean)).average().orElseThrow();
    double[] gamma = row.vector(name + ".gamma");
    double[] beta = row.vector(name + ".beta");
    double[] result = new double[x.length];
    Arrays.setAll(result, i -> gamma[i] * (x[i] - mean) / Math.sqrt(variance + 1e-5) + beta[i]);
    return result;
  }

  static double[] relu(double[] x) {
    return Arrays.stream(x).map(v -> Math.max(v, 0)).toArray();
  }

  private static double[][] each(double[][] x, UnaryOperator<double[]> function) {
    return Arrays.stream(x).map(function).toArray(double[][]::new);
  }

  private static double[][] sum(double[][] a, double[][] b) {
    double[][] result = new double[a.length][a[0].length];
    for (int t = 0; t < a.length; t++) {
      for (int i = 0; i < a[t].length; i++) {
        result[t][i] = a[t][i] + b[t][i];
      }
    }
    return result;
  }
}
