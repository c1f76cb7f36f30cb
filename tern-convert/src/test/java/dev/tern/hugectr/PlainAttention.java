package dev.tern.hugectr;

import dev.tern.hugectr.PlainGraph.T;
import dev.tern.internal.json.Json;
import java.util.Arrays;
import java.util.List;

/** Softmax, masks and attention in plain loops. */
final class PlainAttention {
  private PlainAttention() {}

  static T softmax(List<T> in, double factor) {
    T x = in.get(0);
    int n = x.size(-1);
    double[] y = new double[x.values().length];
    boolean masked = in.size() == 2;
    for (int r = 0; r < y.length / n; r++) {
      double[] s = new double[n];
      for (int j = 0; j < n; j++) {
        double value = x.values()[r * n + j];
        // A mask of attention has one head, which holds for all.
        double keep = masked ? maskAt(in.get(1), x, r, j) : 1;
        s[j] = masked ? value * factor - 10000 * (1 - keep) : value;
      }
      double most = masked ? Arrays.stream(s).max().orElseThrow() : 0;
      double sum = 0;
      for (double each : s) {
        sum += Math.exp(each - most);
      }
      for (int j = 0; j < n; j++) {
        y[r * n + j] = Math.exp(s[j] - most) / (masked ? sum + 1e-6 : sum);
      }
    }
    return new T(x.sizes(), y);
  }

  private static double maskAt(T mask, T x, int row, int column) {
    if (mask.sizes().length < 4) {
      return mask.values()[row * x.size(-1) + column];
    }
    int from = x.size(2);
    int batch = row / from / x.size(1);
    return mask.values()[(batch * from + row % from) * x.size(3) + column];
  }

  static T mask(List<T> in, Json.Obj layer) {
    int from =
        PlainGraph.whole(
            layer, "max_sequence_len_from", PlainGraph.whole(layer, "max_sequence_len", 0));
    int to =
        PlainGraph.whole(
            layer, "max_sequence_len_to", PlainGraph.whole(layer, "max_sequence_len", 0));
    int batch = in.get(0).size(0);
    double[] y = new double[batch * from * to];
    for (int i = 0; i < y.length; i++) {
      int b = i / (from * to);
      boolean inside = i / to % from < in.get(0).values()[b] && i % to < in.get(1).values()[b];
      y[i] = inside ? 1 : 0;
    }
    return PlainGraph.of(y, batch, 1, from, to);
  }

  static T attention(List<T> in, int heads) {
    T q = in.get(0);
    T k = in.get(1);
    T v = in.get(2);
    int width = q.size(2) / heads;
    int from = q.size(1);
    int to = k.size(1);
    double[] y = new double[q.values().length];
    for (int b = 0; b < q.size(0); b++) {
      for (int h = 0; h < heads; h++) {
        for (int i = 0; i < from; i++) {
          double[] scores = new double[to];
          for (int j = 0; j < to; j++) {
            for (int d = 0; d < width; d++) {
              scores[j] +=
                  q.values()[(b * from + i) * q.size(2) + h * width + d]
                      * k.values()[(b * to + j) * q.size(2) + h * width + d]
                      / Math.sqrt(width);
            }
            if (in.size() == 4) {
              scores[j] -= 10000 * (1 - in.get(3).values()[(b * from + i) * to + j]);
            }
          }
          double most = Arrays.stream(scores).max().orElseThrow();
          double sum = Arrays.stream(scores).map(s -> Math.exp(s - most)).sum();
          for (int d = 0; d < width; d++) {
            double mixed = 0;
            for (int j = 0; j < to; j++) {
              mixed +=
                  Math.exp(scores[j] - most)
                      / (sum + (in.size() == 4 ? 1e-6 : 0))
                      * v.values()[(b * to + j) * q.size(2) + h * width + d];
            }
            y[(b * from + i) * q.size(2) + h * width + d] = mixed;
          }
        }
      }
    }
    return new T(q.sizes(), y);
  }
}
