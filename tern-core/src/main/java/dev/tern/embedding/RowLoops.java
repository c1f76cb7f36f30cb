package dev.tern.embedding;

import dev.tern.optim.Optimizer;
import java.util.Arrays;

/**
 * The loops over rows: copy, add up, update. Rows are short (8 to 64 floats) and many, so the inner
 * loop always runs over rows and its body is straight-line code for a few columns: a loop over the
 * columns of one row would spend its time on entering and leaving the loop.
 *
 * <p>Columns go to {@link VectorRows} as far as whole vectors reach, the rest to {@link
 * ScalarRows}; where the module {@code jdk.incubator.vector} is absent, all of them. Both compute
 * every element by the same operations in the same order, so results do not depend on which did it.
 */
final class RowLoops {
  /** Rows per round over the columns: few enough that they stay in the nearest cache. */
  private static final int BLOCK = 64;

  /** Partial sums of squares per row, column {@code j} in number {@code j % 8}. */
  private static final int PARTS = 8;

  private final int lanes;
  private final float[] parts = new float[PARTS * BLOCK];
  private final float[] rates = new float[BLOCK];

  RowLoops(boolean vectors) {
    lanes = vectors ? VectorRows.LANES : Integer.MAX_VALUE;
  }

  /** With vectors where this process has them. */
  static RowLoops fastest() {
    return new RowLoops(ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent());
  }

  /**
   * Copies rows: {@code count} positions from {@code from} on, position {@code from + i} to {@code
   * out + i * stride} (bytes).
   */
  void gather(long[] rows, int[] inverse, int from, int count, int width, long out, long stride) {
    int block = width <= 2L * lanes ? Math.max(1, count) : BLOCK;
    for (int done = 0; done < count; done += block) {
      int begin = from + done;
      int end = Math.min(from + count, begin + block);
      long target = out + done * stride;
      int j = 0;
      for (; j <= width - 2L * lanes; j += 2 * lanes) {
        VectorRows.gather2(rows, inverse, begin, end, target, stride, j);
      }
      for (; j <= width - lanes; j += lanes) {
        VectorRows.gather(rows, inverse, begin, end, target, stride, j);
      }
      for (; j < width; j++) {
        ScalarRows.gather(rows, inverse, begin, end, target, stride, j);
      }
    }
  }

  /** Fills {@code count} rows at {@code out} with zeros. */
  void clear(int count, int width, long out, long stride) {
    int j = 0;
    for (; j <= width - lanes; j += lanes) {
      VectorRows.clear(count, out, stride, j);
    }
    for (; j < width; j++) {
      ScalarRows.clear(count, out, stride, j);
    }
  }

  /**
   * Sums or means of the rows of bags {@code [from, to)}, bag {@code b} at {@code out + b * stride}
   * (bytes), of rows in order of position; zeros for an empty bag.
   */
  void pool(
      long[] rows,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      boolean mean,
      int width,
      long out,
      long stride) {
    int j = 0;
    for (; j <= width - 2L * lanes; j += 2 * lanes) {
      VectorRows.pool2(rows, inverse, offsets, from, to, mean, out, stride, j);
    }
    for (; j <= width - lanes; j += lanes) {
      VectorRows.pool(rows, inverse, offsets, from, to, mean, out, stride, j);
    }
    for (; j < width; j++) {
      ScalarRows.pool(rows, inverse, offsets, from, to, mean, out, stride, j);
    }
  }

  /** {@code sums[inverse[p]] += scales[p] * grad[bags[p]]} for positions p in order. */
  void addGradients(Lookup lookup, int from, int to, int width, long grad, long stride, long sums) {
    int j = 0;
    for (; j <= width - lanes; j += lanes) {
      VectorRows.addGradients(
          lookup.inverse, lookup.bags, lookup.scales, from, to, grad, stride, sums, 4L * width, j);
    }
    for (; j < width; j++) {
      ScalarRows.addGradients(
          lookup.inverse, lookup.bags, lookup.scales, from, to, grad, stride, sums, 4L * width, j);
    }
  }

  /**
   * One optimizer step on {@code rows[from .. to)}; the gradient of {@code rows[i]} lies at {@code
   * grad + i * stride} (bytes). The rows must be distinct, or may hold anything afterwards.
   */
  void update(Step step, long[] rows, int from, int to, long grad, long stride) {
    for (int begin = from; begin < to; begin += BLOCK) {
      int end = Math.min(to, begin + BLOCK);
      if (step.optimizer() instanceof Optimizer.RowWiseAdagrad adagrad) {
        rowRates(step, adagrad, rows, begin, end, grad, stride);
      }
      int j = 0;
      for (; j <= step.width() - lanes; j += lanes) {
        vectorUpdate(step, rows, begin, end, grad, stride, j);
      }
      for (; j < step.width(); j++) {
        scalarUpdate(step, rows, begin, end, grad, stride, j);
      }
    }
  }

  private void vectorUpdate(
      Step step, long[] rows, int from, int to, long grad, long stride, int j) {
    switch (step.optimizer()) {
      case Optimizer.Sgd _ -> VectorRows.sgd(step, rows, from, to, grad, stride, j);
      case Optimizer.Momentum o -> VectorRows.momentum(step, o, rows, from, to, grad, stride, j);
      case Optimizer.Nesterov o -> VectorRows.nesterov(step, o, rows, from, to, grad, stride, j);
      case Optimizer.Adagrad o -> VectorRows.adagrad(step, o, rows, from, to, grad, stride, j);
      case Optimizer.RowWiseAdagrad _ ->
          VectorRows.rowWise(step, rates, rows, from, to, grad, stride, j);
      case Optimizer.Adam o -> VectorRows.adam(step, o, rows, from, to, grad, stride, j);
      case Optimizer.Ftrl o -> VectorRows.ftrl(step, o, rows, from, to, grad, stride, j);
    }
  }

  private void scalarUpdate(
      Step step, long[] rows, int from, int to, long grad, long stride, int j) {
    switch (step.optimizer()) {
      case Optimizer.Sgd _ -> ScalarRows.sgd(step, rows, from, to, grad, stride, j);
      case Optimizer.Momentum o -> ScalarRows.momentum(step, o, rows, from, to, grad, stride, j);
      case Optimizer.Nesterov o -> ScalarRows.nesterov(step, o, rows, from, to, grad, stride, j);
      case Optimizer.Adagrad o -> ScalarRows.adagrad(step, o, rows, from, to, grad, stride, j);
      case Optimizer.RowWiseAdagrad _ ->
          ScalarRows.rowWise(step, rates, rows, from, to, grad, stride, j);
      case Optimizer.Adam o -> ScalarRows.adam(step, o, rows, from, to, grad, stride, j);
      case Optimizer.Ftrl o -> ScalarRows.ftrl(step, o, rows, from, to, grad, stride, j);
    }
  }

  /** Adds the mean squared gradient to each row's state; {@link #rates} are the learning rates. */
  private void rowRates(
      Step step,
      Optimizer.RowWiseAdagrad adagrad,
      long[] rows,
      int from,
      int to,
      long grad,
      long stride) {
    Arrays.fill(parts, 0, PARTS * (to - from), 0);
    int j = 0;
    for (; j <= step.width() - lanes; j += lanes) {
      VectorRows.addSquares(step, parts, rows, from, to, grad, stride, j);
    }
    for (; j < step.width(); j++) {
      ScalarRows.addSquares(step, parts, rows, from, to, grad, stride, j);
    }
    ScalarRows.rowRates(step, adagrad, parts, rates, rows, from, to);
  }
}
