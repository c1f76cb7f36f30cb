package dev.tern.embedding;

import static dev.tern.internal.memory.Memory.getFloat;
import static dev.tern.internal.memory.Memory.getLong;
import static dev.tern.internal.memory.Memory.setFloat;
import static dev.tern.internal.memory.Memory.setLong;

import dev.tern.optim.Optimizer;

/**
 * Row loops in scalar code. The static methods work on elements {@code from} to {@code width - 1}
 * of one row, so that the vector version can leave the tail of a row to them.
 */
final class ScalarRows implements RowKernels {
  @Override
  public void gather(
      long[] addresses, int[] inverse, int from, int count, int width, long out, long stride) {
    for (int i = 0; i < count; i++) {
      copy(addresses[inverse[from + i]], out + i * stride, 0, width);
    }
  }

  @Override
  public void sum(
      long[] addresses, int[] inverse, int from, int to, int width, float scale, long out) {
    sum(addresses, inverse, from, to, 0, width, scale, out);
  }

  @Override
  public void merge(
      long grad, long stride, int[] order, int from, int to, float[] scales, int width, long out) {
    merge(grad, stride, order, from, to, scales, 0, width, out);
  }

  @Override
  public void update(Step step, long[] rows, long[] grads, int count) {
    for (int i = 0; i < count; i++) {
      update(step, rows[i], grads[i], 0);
    }
  }

  static void copy(long row, long out, int from, int width) {
    int j = from;
    for (; j <= width - 2; j += 2) {
      setLong(out + 4L * j, getLong(row + 4L * j));
    }
    if (j < width) {
      setFloat(out + 4L * j, getFloat(row + 4L * j));
    }
  }

  static void sum(
      long[] addresses, int[] inverse, int from, int to, int j0, int width, float scale, long out) {
    for (int j = j0; j < width; j++) {
      float sum = getFloat(addresses[inverse[from]] + 4L * j);
      for (int i = from + 1; i < to; i++) {
        sum += getFloat(addresses[inverse[i]] + 4L * j);
      }
      setFloat(out + 4L * j, sum * scale);
    }
  }

  static void merge(
      long grad,
      long stride,
      int[] order,
      int from,
      int to,
      float[] scales,
      int j0,
      int width,
      long out) {
    for (int j = j0; j < width; j++) {
      float sum = 0;
      for (int i = from; i < to; i++) {
        int bag = order[i];
        sum = Math.fma(scales[bag], getFloat(grad + bag * stride + 4L * j), sum);
      }
      setFloat(out + 4L * j, sum);
    }
  }

  /** One step on elements {@code from} to {@code width - 1} of a row; row state only from 0. */
  static void update(Step step, long row, long grad, int from) {
    switch (step.optimizer()) {
      case Optimizer.Sgd _ -> sgd(step, row, grad, from);
      case Optimizer.Momentum momentum -> momentum(step, momentum.momentum(), row, grad, from);
      case Optimizer.Nesterov nesterov -> nesterov(step, nesterov.momentum(), row, grad, from);
      case Optimizer.Adagrad adagrad -> adagrad(step, adagrad.eps(), row, grad, from);
      case Optimizer.RowWiseAdagrad adagrad -> {
        float rate = rowRate(step, adagrad.eps(), row, grad);
        rowWise(step, rate, row, grad, from);
      }
      case Optimizer.Adam adam -> adam(step, adam, row, grad, from);
      case Optimizer.Ftrl ftrl -> ftrl(step, ftrl, row, grad, from);
    }
  }

  private static float gradient(Step step, float w, long grad, long offset) {
    return Math.fma(step.l2(), w, getFloat(grad + offset));
  }

  static void sgd(Step step, long row, long grad, int from) {
    for (int j = from; j < step.width(); j++) {
      long at = 4L * j;
      float w = getFloat(row + at);
      setFloat(row + at, Math.fma(-step.lr(), gradient(step, w, grad, at), w));
    }
  }

  static void momentum(Step step, float momentum, long row, long grad, int from) {
    long state = row + 4L * step.width();
    for (int j = from; j < step.width(); j++) {
      long at = 4L * j;
      float w = getFloat(row + at);
      float g = gradient(step, w, grad, at);
      float a = Math.fma(momentum, getFloat(state + at), -step.lr() * g);
      setFloat(state + at, a);
      setFloat(row + at, w + a);
    }
  }

  static void nesterov(Step step, float momentum, long row, long grad, int from) {
    long state = row + 4L * step.width();
    for (int j = from; j < step.width(); j++) {
      long at = 4L * j;
      float w = getFloat(row + at);
      float g = gradient(step, w, grad, at);
      float a = Math.fma(momentum, getFloat(state + at), g);
      setFloat(state + at, a);
      setFloat(row + at, Math.fma(-step.lr(), Math.fma(momentum, a, g), w));
    }
  }

  static void adagrad(Step step, float eps, long row, long grad, int from) {
    long state = row + 4L * step.width();
    for (int j = from; j < step.width(); j++) {
      long at = 4L * j;
      float w = getFloat(row + at);
      float g = gradient(step, w, grad, at);
      float s = Math.fma(g, g, getFloat(state + at));
      setFloat(state + at, s);
      setFloat(row + at, w - step.lr() * g / ((float) Math.sqrt(s) + eps));
    }
  }

  /** Adds the mean squared gradient to the row's state; its learning rate for this step. */
  static float rowRate(Step step, float eps, long row, long grad) {
    int width = step.width();
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    int j = 0;
    for (; j <= width - 4; j += 4) {
      long at = 4L * j;
      float g0 = gradient(step, getFloat(row + at), grad, at);
      float g1 = gradient(step, getFloat(row + at + 4), grad, at + 4);
      float g2 = gradient(step, getFloat(row + at + 8), grad, at + 8);
      float g3 = gradient(step, getFloat(row + at + 12), grad, at + 12);
      s0 = Math.fma(g0, g0, s0);
      s1 = Math.fma(g1, g1, s1);
      s2 = Math.fma(g2, g2, s2);
      s3 = Math.fma(g3, g3, s3);
    }
    for (; j < width; j++) {
      float g = gradient(step, getFloat(row + 4L * j), grad, 4L * j);
      s0 = Math.fma(g, g, s0);
    }
    long state = row + 4L * width;
    float s = getFloat(state) + ((s0 + s1) + (s2 + s3)) / width;
    setFloat(state, s);
    return step.lr() / ((float) Math.sqrt(s) + eps);
  }

  static void rowWise(Step step, float rate, long row, long grad, int from) {
    for (int j = from; j < step.width(); j++) {
      long at = 4L * j;
      float w = getFloat(row + at);
      setFloat(row + at, Math.fma(-rate, gradient(step, w, grad, at), w));
    }
  }

  static void adam(Step step, Optimizer.Adam adam, long row, long grad, int from) {
    long first = row + 4L * step.width();
    long second = first + 4L * step.width();
    for (int j = from; j < step.width(); j++) {
      long at = 4L * j;
      float w = getFloat(row + at);
      float g = gradient(step, w, grad, at);
      float m = Math.fma(adam.beta1(), getFloat(first + at), (1 - adam.beta1()) * g);
      float v = Math.fma(adam.beta2(), getFloat(second + at), (1 - adam.beta2()) * g * g);
      setFloat(first + at, m);
      setFloat(second + at, v);
      float root = (float) Math.sqrt(v * step.vScale()) + adam.eps();
      setFloat(row + at, w - step.lr() * m / root);
    }
  }

  static void ftrl(Step step, Optimizer.Ftrl ftrl, long row, long grad, int from) {
    long linear = row + 4L * step.width();
    long squares = linear + 4L * step.width();
    float perRate = 1 / step.lr();
    for (int j = from; j < step.width(); j++) {
      long at = 4L * j;
      float w = getFloat(row + at);
      float g = gradient(step, w, grad, at);
      float before = getFloat(squares + at);
      float n = Math.fma(g, g, before);
      float root = (float) Math.sqrt(n);
      float sigma = (root - (float) Math.sqrt(before)) * perRate;
      float z = Math.fma(-sigma, w, getFloat(linear + at) + g);
      setFloat(linear + at, z);
      setFloat(squares + at, n);
      float size = Math.max(Math.abs(z) - ftrl.l1(), 0);
      float pull = Math.fma(ftrl.beta() + root, perRate, ftrl.l2());
      float shrunk = pull > 0 ? size / pull : 0;
      setFloat(row + at, z > 0 ? -shrunk : shrunk);
    }
  }
}
