package dev.tern.embedding;

import static dev.tern.internal.memory.Memory.getFloat;
import static dev.tern.internal.memory.Memory.getInt;
import static dev.tern.internal.memory.Memory.setFloat;
import static dev.tern.internal.memory.Memory.setInt;

import dev.tern.optim.Optimizer;

/** {@link RowLoops} on one column, {@code j}. Strides are bytes. */
final class ScalarRows {
  private ScalarRows() {}

  static void gather(long[] rows, int[] inverse, int from, int to, long out, long stride, int j) {
    long at = 4L * j;
    for (int i = from; i < to; i++) {
      setFloat(out + (i - from) * stride + at, getFloat(rows[inverse[i]] + at));
    }
  }

  static void pool(
      long[] rows,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      long out,
      long stride,
      int j) {
    long at = 4L * j;
    for (int b = from; b < to; b++) {
      int end = offsets[b + 1];
      float scale = combiner.scale(end - offsets[b]);
      float sum = 0;
      for (int i = offsets[b]; i < end; i++) {
        sum = Math.fma(scale, getFloat(rows[inverse[i]] + at), sum);
      }
      setFloat(out + b * stride + at, sum);
    }
  }

  static void sumGradients(
      RowLookup lookup, int from, int to, long grad, long stride, long out, long outStride, int j) {
    int[] starts = lookup.starts;
    int[] bags = lookup.bags;
    float[] scales = lookup.scales;
    long at = 4L * j;
    for (int u = from; u < to; u++) {
      int end = starts[u + 1];
      float sum = 0;
      for (int i = starts[u]; i < end; i++) {
        sum = Math.fma(scales[i], getFloat(grad + bags[i] * stride + at), sum);
      }
      setFloat(out + (u - from) * outStride + at, sum);
    }
  }

  static void sgd(Step step, long[] rows, int from, int to, long grad, long stride, int j) {
    float l2 = step.l2();
    float down = -step.lr();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride + 4L * j));
      setFloat(row, Math.fma(down, g, w));
    }
  }

  static void momentum(
      Step step,
      Optimizer.Momentum rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float l2 = step.l2();
    float down = -step.lr();
    float keep = rule.momentum();
    long state = 4L * step.width();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride + 4L * j));
      float a = Math.fma(keep, getFloat(at + state), down * g);
      setFloat(at + state, a);
      setFloat(row, w + a);
    }
  }

  static void nesterov(
      Step step,
      Optimizer.Nesterov rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float l2 = step.l2();
    float down = -step.lr();
    float keep = rule.momentum();
    long state = 4L * step.width();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride + 4L * j));
      float a = Math.fma(keep, getFloat(at + state), g);
      setFloat(at + state, a);
      setFloat(row, Math.fma(down, Math.fma(keep, a, g), w));
    }
  }

  static void adagrad(
      Step step,
      Optimizer.Adagrad rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float l2 = step.l2();
    float lr = step.lr();
    float eps = rule.eps();
    long state = 4L * step.width();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride + 4L * j));
      float s = Math.fma(g, g, getFloat(at + state));
      setFloat(at + state, s);
      setFloat(row, w - lr * g / ((float) Math.sqrt(s) + eps));
    }
  }

  static void addSquares(
      Step step, float[] parts, long[] rows, int from, int to, long grad, long stride, int j) {
    float l2 = step.l2();
    for (int i = from; i < to; i++) {
      float g = Math.fma(l2, getFloat(rows[i] + 4L * j), getFloat(grad + i * stride + 4L * j));
      int part = 8 * (i - from) + (j & 7);
      parts[part] = Math.fma(g, g, parts[part]);
    }
  }

  static void addSquares(float[] parts, int count, long grad, long stride, int j) {
    for (int i = 0; i < count; i++) {
      float g = getFloat(grad + i * stride + 4L * j);
      int part = 8 * i + (j & 7);
      parts[part] = Math.fma(g, g, parts[part]);
    }
  }

  /** The sum of the partial sums of row {@code i}. */
  private static float total(float[] parts, int i) {
    int p = 8 * i;
    float even = (parts[p] + parts[p + 4]) + (parts[p + 2] + parts[p + 6]);
    float odd = (parts[p + 1] + parts[p + 5]) + (parts[p + 3] + parts[p + 7]);
    return even + odd;
  }

  /** What rows are multiplied by for their norms not to exceed {@code norm}. */
  /**
   * Where the squares of a gradient add up to more than a float can be they are added up anew, as
   * doubles; of one that is not finite the factor is 0 or NaN.
   */
  static void clipFactors(
      float[] parts, float[] factors, int count, float norm, long grad, long stride, int width) {
    for (int i = 0; i < count; i++) {
      float total = total(parts, i);
      double own =
          total < Float.POSITIVE_INFINITY
              ? (float) Math.sqrt(total)
              : norm(grad + i * stride, width);
      factors[i] = (float) (norm / Math.max(own, norm));
    }
  }

  private static double norm(long grad, int width) {
    double squares = 0;
    for (int j = 0; j < width; j++) {
      double g = getFloat(grad + 4L * j);
      squares += g * g;
    }
    return Math.sqrt(squares);
  }

  static void scale(float[] factors, int count, long grad, long stride, int j) {
    for (int i = 0; i < count; i++) {
      long at = grad + i * stride + 4L * j;
      setFloat(at, factors[i] * getFloat(at));
    }
  }

  static void clamp(long[] rows, int from, int to, float low, float high, int j) {
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      setFloat(row, Math.min(Math.max(getFloat(row), low), high));
    }
  }

  static void rowRates(
      Step step,
      Optimizer.RowWiseAdagrad rule,
      float[] parts,
      float[] rates,
      long[] states,
      int from,
      int to) {
    float lr = step.lr();
    float eps = rule.eps();
    float share = 1f / step.width();
    for (int i = from; i < to; i++) {
      long state = states[i] + 4L * step.width();
      float s = Math.fma(total(parts, i - from), share, getFloat(state));
      setFloat(state, s);
      rates[i - from] = lr / ((float) Math.sqrt(s) + eps);
    }
  }

  static void rowWise(
      Step step, float[] rates, long[] rows, int from, int to, long grad, long stride, int j) {
    float l2 = step.l2();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride + 4L * j));
      setFloat(row, Math.fma(-rates[i - from], g, w));
    }
  }

  static void rmsProp(
      Step step,
      Optimizer.RmsProp rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float l2 = step.l2();
    float lr = step.lr();
    float eps = rule.eps();
    float rho = rule.rho();
    float rest = 1 - rho;
    long state = 4L * step.width();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride + 4L * j));
      float s = Math.fma(rho, getFloat(at + state), rest * g * g);
      setFloat(at + state, s);
      setFloat(row, w - lr * g / ((float) Math.sqrt(s) + eps));
    }
  }

  /**
   * Finds the decay of each row's moments in the steps since its last update, and makes this step
   * the last.
   *
   * @return whether there is any
   */
  static boolean momentDecays(
      Step step, float[] first, float[] second, long[] states, int from, int to) {
    long last = 12L * step.width();
    int number = (int) Math.min(step.number(), Integer.MAX_VALUE);
    boolean any = false;
    for (int i = from; i < to; i++) {
      int skipped = Math.max(0, number - getInt(states[i] + last) - 1);
      first[i - from] = step.decay1(skipped);
      second[i - from] = step.decay2(skipped);
      any |= skipped > 0;
      setInt(states[i] + last, number);
    }
    return any;
  }

  static void decay(
      int width, float[] first, float[] second, long[] states, int from, int to, int j) {
    for (int i = from; i < to; i++) {
      long m = states[i] + 4L * (width + j);
      long v = m + 4L * width;
      setFloat(m, first[i - from] * getFloat(m));
      setFloat(v, second[i - from] * getFloat(v));
    }
  }

  static void adam(
      Step step,
      Optimizer.Adam rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float l2 = step.l2();
    float lr = step.lr();
    float vScale = step.vScale();
    float eps = rule.eps();
    float beta1 = rule.beta1();
    float beta2 = rule.beta2();
    float rest1 = 1 - beta1;
    float rest2 = 1 - beta2;
    long first = 4L * step.width();
    long second = 2 * first;
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      float w = getFloat(row);
      float g = Math.fma(l2, w, getFloat(grad + i * stride + 4L * j));
      float m = Math.fma(beta1, getFloat(at + first), rest1 * g);
      float v = Math.fma(beta2, getFloat(at + second), rest2 * g * g);
      setFloat(at + first, m);
      setFloat(at + second, v);
      setFloat(row, w - lr * m / ((float) Math.sqrt(v * vScale) + eps));
    }
  }

  static void ftrl(
      Step step,
      Optimizer.Ftrl rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float perRate = 1 / step.lr();
    long linear = 4L * step.width();
    long squares = 2 * linear;
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      float w = getFloat(row);
      float g = Math.fma(step.l2(), w, getFloat(grad + i * stride + 4L * j));
      float before = getFloat(at + squares);
      float n = Math.fma(g, g, before);
      float root = (float) Math.sqrt(n);
      float sigma = (root - (float) Math.sqrt(before)) * perRate;
      float z = Math.fma(-sigma, w, getFloat(at + linear) + g);
      setFloat(at + linear, z);
      setFloat(at + squares, n);
      float size = Math.max(Math.abs(z) - rule.l1(), 0);
      float pull = Math.fma(rule.beta() + root, perRate, rule.l2());
      float shrunk = pull > 0 ? size / pull : 0;
      setFloat(row, z > 0 ? -shrunk : shrunk);
    }
  }
}
