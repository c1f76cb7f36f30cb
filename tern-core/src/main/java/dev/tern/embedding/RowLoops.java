package dev.tern.embedding;

import dev.tern.base.DType;
import dev.tern.internal.kernel.VectorSupport;
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

  /** Whether weights are floats as they lie. */
  private final boolean plain;

  private final int lanes;
  private final HalfLoops halves;

  /** Reads weights that are not. */
  private final NarrowLoops narrow;

  private final float[] parts = new float[PARTS * BLOCK];
  private final float[] rates = new float[BLOCK];
  private final float[] decays1 = new float[BLOCK];
  private final float[] decays2 = new float[BLOCK];

  /** On weights that are stored as {@code storage}. */
  RowLoops(boolean vectors, DType storage) {
    plain = storage == DType.F32;
    lanes = vectors ? VectorRows.LANES : Integer.MAX_VALUE;
    halves = new HalfLoops(storage, lanes);
    narrow = halves;
  }

  /** Of rows of {@link RowFormat#INT8}, of {@code width} weights; to read them. */
  RowLoops(boolean vectors, int width) {
    plain = false;
    lanes = vectors ? VectorRows.LANES : Integer.MAX_VALUE;
    halves = new HalfLoops(DType.F32, lanes);
    narrow = new ByteLoops(width, lanes);
  }

  /** With vectors where this process has them. */
  static RowLoops fastest(DType storage) {
    return new RowLoops(VectorSupport.available(), storage);
  }

  /** Likewise, of the rows of a table. */
  static RowLoops fastest(TableConfig config) {
    return switch (config.format()) {
      case STORED -> fastest(config.storage());
      case INT8 -> new RowLoops(VectorSupport.available(), config.width());
    };
  }

  /** Weight {@code j} of the row at an address. */
  float get(long row, int j) {
    return narrow.get(row, j);
  }

  /**
   * Copies weights of columns {@code [begin, end)}: {@code count} positions from {@code from} on,
   * column {@code j} of position {@code from + i} to {@code out + i * stride + 4 * j}.
   */
  void gather(
      long[] rows, int[] inverse, int from, int count, int begin, int end, long out, long stride) {
    int block = end - begin <= 2L * lanes ? Math.max(1, count) : BLOCK;
    for (int done = 0; done < count; done += block) {
      int first = from + done;
      int last = Math.min(from + count, first + block);
      long target = out + done * stride;
      if (!plain) {
        narrow.gather(rows, inverse, first, last, begin, end, target, stride);
        continue;
      }
      int j = begin;
      for (; j <= end - 2L * lanes; j += 2 * lanes) {
        VectorRows.gather2(rows, inverse, first, last, target, stride, j);
      }
      for (; j <= end - lanes; j += lanes) {
        VectorRows.gather(rows, inverse, first, last, target, stride, j);
      }
      for (; j < end; j++) {
        ScalarRows.gather(rows, inverse, first, last, target, stride, j);
      }
    }
  }

  /**
   * Combines columns {@code [begin, end)} of the rows of bags {@code [from, to)}, column {@code j}
   * of bag {@code b} at {@code out + b * stride + 4 * j}, of rows in order of position; zeros for
   * an empty bag.
   */
  void pool(
      long[] rows,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      int begin,
      int end,
      long out,
      long stride) {
    if (!plain) {
      narrow.pool(rows, inverse, offsets, from, to, combiner, begin, end, out, stride);
      return;
    }
    int j = begin;
    for (; j <= end - 2L * lanes; j += 2 * lanes) {
      VectorRows.pool2(rows, inverse, offsets, from, to, combiner, out, stride, j);
    }
    for (; j <= end - lanes; j += lanes) {
      VectorRows.pool(rows, inverse, offsets, from, to, combiner, out, stride, j);
    }
    for (; j < end; j++) {
      ScalarRows.pool(rows, inverse, offsets, from, to, combiner, out, stride, j);
    }
  }

  /** Likewise, of rows times {@code weights}, one for each position. */
  void poolWeighted(
      long[] rows,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      float[] weights,
      int begin,
      int end,
      long out,
      long stride) {
    if (!plain) {
      narrow.poolWeighted(
          rows, inverse, offsets, from, to, combiner, weights, begin, end, out, stride);
      return;
    }
    int j = begin;
    for (; j <= end - lanes; j += lanes) {
      VectorRows.poolWeighted(rows, inverse, offsets, from, to, combiner, weights, out, stride, j);
    }
    for (; j < end; j++) {
      ScalarHalves.poolWeighted(
          DType.F32, rows, inverse, offsets, from, to, combiner, weights, out, stride, j);
    }
  }

  /**
   * Adds up columns {@code [begin, end)} of the gradients of ids {@code [from, to)} of a lookup
   * that was grouped, column {@code j} of id {@code u} at {@code out + (u - from) * outStride + 4 *
   * j}, in order of position.
   *
   * @param grad address from which column {@code j} of bag 0's gradient lies {@code 4 * j} bytes
   * @param stride bytes from one bag's gradient to the next
   */
  void sumGradients(
      RowLookup lookup,
      int from,
      int to,
      int begin,
      int end,
      long grad,
      long stride,
      long out,
      long outStride) {
    int j = begin;
    for (; j <= end - 2L * lanes; j += 2 * lanes) {
      VectorRows.sumGradients2(lookup, from, to, grad, stride, out, outStride, j);
    }
    for (; j <= end - lanes; j += lanes) {
      VectorRows.sumGradients(lookup, from, to, grad, stride, out, outStride, j);
    }
    for (; j < end; j++) {
      ScalarRows.sumGradients(lookup, from, to, grad, stride, out, outStride, j);
    }
  }

  /**
   * Scales rows down to a norm of {@code norm} where theirs is larger, up to rounding: {@code
   * count} rows of {@code width} floats, row {@code i} at {@code grad + i * stride} (bytes).
   */
  void clip(float norm, int count, int width, long grad, long stride) {
    for (int done = 0; done < count; done += BLOCK) {
      int block = Math.min(BLOCK, count - done);
      long first = grad + done * stride;
      Arrays.fill(parts, 0, PARTS * block, 0);
      int j = 0;
      for (; j <= width - lanes; j += lanes) {
        VectorRows.addSquares(parts, block, first, stride, j);
      }
      for (; j < width; j++) {
        ScalarRows.addSquares(parts, block, first, stride, j);
      }
      ScalarRows.clipFactors(parts, rates, block, norm, first, stride, width);
      for (j = 0; j <= width - lanes; j += lanes) {
        VectorRows.scale(rates, block, first, stride, j);
      }
      for (; j < width; j++) {
        ScalarRows.scale(rates, block, first, stride, j);
      }
    }
  }

  /** Moves weights of F32 at {@code weights[from .. to)} to the nearest within bounds. */
  void clamp(long[] weights, int from, int to, int width, float low, float high) {
    for (int begin = from; begin < to; begin += BLOCK) {
      int end = Math.min(to, begin + BLOCK);
      int j = 0;
      for (; j <= width - lanes; j += lanes) {
        VectorRows.clamp(weights, begin, end, low, high, j);
      }
      for (; j < width; j++) {
        ScalarRows.clamp(weights, begin, end, low, high, j);
      }
    }
  }

  /** As {@link HalfLoops#store}. */
  void store(long[] rows, int[] keys, int count, int width, long weights) {
    halves.store(rows, keys, count, width, weights);
  }

  /**
   * One optimizer step on weights of F32 at {@code weights[from .. to)}, whose state lies {@code W}
   * floats behind {@code states[i]}; the gradient of {@code weights[i]} lies at {@code grad + i *
   * stride} (bytes). The rows must be distinct, or may hold anything afterwards.
   */
  void update(Step step, long[] weights, long[] states, int from, int to, long grad, long stride) {
    for (int begin = from; begin < to; begin += BLOCK) {
      int end = Math.min(to, begin + BLOCK);
      if (step.optimizer() instanceof Optimizer.RowWiseAdagrad adagrad) {
        rowRates(step, adagrad, weights, states, begin, end, grad, stride);
      }
      if (step.optimizer() instanceof Optimizer.Adam adam && adam.decays()) {
        decayMoments(step, states, begin, end);
      }
      int j = 0;
      for (; j <= step.width() - lanes; j += lanes) {
        vectorUpdate(step, weights, states, begin, end, grad, stride, j);
      }
      for (; j < step.width(); j++) {
        scalarUpdate(step, weights, states, begin, end, grad, stride, j);
      }
    }
  }

  private void vectorUpdate(
      Step step, long[] w, long[] s, int from, int to, long grad, long stride, int j) {
    switch (step.optimizer()) {
      case Optimizer.Sgd _ -> VectorRows.sgd(step, w, from, to, grad, stride, j);
      case Optimizer.Momentum o -> VectorRows.momentum(step, o, w, s, from, to, grad, stride, j);
      case Optimizer.Nesterov o -> VectorRows.nesterov(step, o, w, s, from, to, grad, stride, j);
      case Optimizer.Adagrad o -> VectorRows.adagrad(step, o, w, s, from, to, grad, stride, j);
      case Optimizer.RowWiseAdagrad _ ->
          VectorRows.rowWise(step, rates, w, from, to, grad, stride, j);
      case Optimizer.RmsProp o -> VectorRows.rmsProp(step, o, w, s, from, to, grad, stride, j);
      case Optimizer.Adam o -> VectorRows.adam(step, o, w, s, from, to, grad, stride, j);
      case Optimizer.Ftrl o -> VectorRows.ftrl(step, o, w, s, from, to, grad, stride, j);
    }
  }

  private void scalarUpdate(
      Step step, long[] w, long[] s, int from, int to, long grad, long stride, int j) {
    switch (step.optimizer()) {
      case Optimizer.Sgd _ -> ScalarRows.sgd(step, w, from, to, grad, stride, j);
      case Optimizer.Momentum o -> ScalarRows.momentum(step, o, w, s, from, to, grad, stride, j);
      case Optimizer.Nesterov o -> ScalarRows.nesterov(step, o, w, s, from, to, grad, stride, j);
      case Optimizer.Adagrad o -> ScalarRows.adagrad(step, o, w, s, from, to, grad, stride, j);
      case Optimizer.RowWiseAdagrad _ ->
          ScalarRows.rowWise(step, rates, w, from, to, grad, stride, j);
      case Optimizer.RmsProp o -> ScalarRows.rmsProp(step, o, w, s, from, to, grad, stride, j);
      case Optimizer.Adam o -> ScalarRows.adam(step, o, w, s, from, to, grad, stride, j);
      case Optimizer.Ftrl o -> ScalarRows.ftrl(step, o, w, s, from, to, grad, stride, j);
    }
  }

  /** Makes up for the steps that did not touch rows, and notes this one. */
  private void decayMoments(Step step, long[] states, int from, int to) {
    if (!ScalarRows.momentDecays(step, decays1, decays2, states, from, to)) {
      return;
    }
    int width = step.width();
    int j = 0;
    for (; j <= width - lanes; j += lanes) {
      VectorRows.decay(width, decays1, decays2, states, from, to, j);
    }
    for (; j < width; j++) {
      ScalarRows.decay(width, decays1, decays2, states, from, to, j);
    }
  }

  /** Adds the mean squared gradient to each row's state; {@link #rates} are the learning rates. */
  private void rowRates(
      Step step,
      Optimizer.RowWiseAdagrad adagrad,
      long[] weights,
      long[] states,
      int from,
      int to,
      long grad,
      long stride) {
    Arrays.fill(parts, 0, PARTS * (to - from), 0);
    int j = 0;
    for (; j <= step.width() - lanes; j += lanes) {
      VectorRows.addSquares(step, parts, weights, from, to, grad, stride, j);
    }
    for (; j < step.width(); j++) {
      ScalarRows.addSquares(step, parts, weights, from, to, grad, stride, j);
    }
    ScalarRows.rowRates(step, adagrad, parts, rates, states, from, to);
  }
}
