package dev.tern.internal.table.rows;

import dev.tern.base.DType;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.optim.Optimizer;
import java.util.Arrays;

/**
 * The loops that add up gradients and change rows. Columns go to {@link VectorSteps} as far as
 * whole vectors reach, the rest to {@link ScalarSteps}, with the same bits; the inner loop runs
 * over rows, for the reason that {@link RowLoops} gives.
 *
 * <p>Threads: the methods that take a {@link StepBlock} use its scratch, so each thread needs a
 * block of its own. This class itself is immutable.
 */
public final class UpdateLoops {
  private final int lanes;

  public UpdateLoops(boolean vectors) {
    lanes = vectors ? VectorRows.LANES : Integer.MAX_VALUE;
  }

  /** With vectors where this process has them. */
  static UpdateLoops fastest() {
    return new UpdateLoops(VectorSupport.available());
  }

  /**
   * Adds up the gradients of distinct ids of a lookup that was grouped: row {@code u} of {@code
   * sums} becomes the sum over the bags that hold id {@code u} of the id's factor there times the
   * bag's row of {@code gradients}, in order of position.
   */
  void sumGradients(RowLookup lookup, MatrixBlock gradients, MatrixBlock sums) {
    int j = gradients.begin;
    int end = gradients.end;
    for (; j <= end - 2L * lanes; j += 2 * lanes) {
      VectorSteps.sumGradients2(lookup, gradients, sums, j);
    }
    for (; j <= end - lanes; j += lanes) {
      VectorSteps.sumGradients(lookup, gradients, sums, j);
    }
    for (; j < end; j++) {
      ScalarSteps.sumGradients(lookup, gradients, sums, j);
    }
  }

  /** Scales the gradients of rows down to a norm of {@code norm} where theirs is larger. */
  void clip(float norm, StepBlock block) {
    MatrixBlock gradients = block.gradients;
    int from = gradients.from;
    int to = gradients.to;
    for (int first = from; first < to; first += StepBlock.ROWS) {
      gradients.rows(first, Math.min(to, first + StepBlock.ROWS));
      Arrays.fill(block.squares, 0, StepBlock.SUMS * (gradients.to - gradients.from), 0);
      int j = gradients.begin;
      for (; j <= gradients.end - lanes; j += lanes) {
        VectorSteps.addSquares(block, j);
      }
      for (; j < gradients.end; j++) {
        ScalarSteps.addSquares(block, j);
      }
      ScalarSteps.clipFactors(norm, block);
      for (j = gradients.begin; j <= gradients.end - lanes; j += lanes) {
        VectorSteps.scale(block, j);
      }
      for (; j < gradients.end; j++) {
        ScalarSteps.scale(block, j);
      }
    }
    gradients.rows(from, to);
  }

  /** Moves weights of F32 to the nearest within {@code low} and {@code high}. */
  void clamp(StepBlock block, int width, float low, float high) {
    MatrixBlock rows = block.gradients;
    int from = rows.from;
    int to = rows.to;
    for (int first = from; first < to; first += StepBlock.ROWS) {
      rows.rows(first, Math.min(to, first + StepBlock.ROWS));
      int j = 0;
      for (; j <= width - lanes; j += lanes) {
        VectorSteps.clamp(block, low, high, j);
      }
      for (; j < width; j++) {
        ScalarSteps.clamp(block, low, high, j);
      }
    }
    rows.rows(from, to);
  }

  /**
   * Rounds row {@code i} of {@code weights} to the row at {@code rows[i]}.
   *
   * @param storage F16, to the nearest, or BF16, up or down by chance
   * @param keys the noise of each row depends on its key and the column alone
   */
  public void store(DType storage, long[] rows, int[] keys, MatrixBlock weights) {
    boolean f16 = storage == DType.F16;
    int j = weights.begin;
    for (; j <= weights.end - lanes; j += lanes) {
      if (f16) {
        VectorSteps.storeF16(rows, weights, j);
      } else {
        VectorSteps.storeBf16(rows, keys, weights, j);
      }
    }
    for (; j < weights.end; j++) {
      if (f16) {
        ScalarSteps.storeF16(rows, weights, j);
      } else {
        ScalarSteps.storeBf16(rows, keys, weights, j);
      }
    }
  }

  /**
   * One optimizer step on the rows of a block, whose weights are F32. The rows must be distinct, or
   * may hold anything afterwards.
   */
  void update(OptimizerStep step, StepBlock block) {
    MatrixBlock gradients = block.gradients;
    int from = gradients.from;
    int to = gradients.to;
    for (int first = from; first < to; first += StepBlock.ROWS) {
      gradients.rows(first, Math.min(to, first + StepBlock.ROWS));
      if (step.optimizer instanceof Optimizer.RowWiseAdagrad adagrad) {
        rowRates(step, adagrad, block);
      }
      if (step.optimizer instanceof Optimizer.Adam adam && adam.decays()) {
        decayMoments(step, block);
      }
      int j = 0;
      for (; j <= step.width - lanes; j += lanes) {
        VectorSteps.update(step, block, j);
      }
      for (; j < step.width; j++) {
        ScalarSteps.update(step, block, j);
      }
    }
    gradients.rows(from, to);
  }

  /** Decays moments by the steps that left their rows alone, and notes this step. */
  private void decayMoments(OptimizerStep step, StepBlock block) {
    if (!ScalarSteps.momentDecays(step, block)) {
      return;
    }
    int j = 0;
    for (; j <= step.width - lanes; j += lanes) {
      VectorSteps.decay(step.width, block, j);
    }
    for (; j < step.width; j++) {
      ScalarSteps.decay(step.width, block, j);
    }
  }

  /** Adds the mean squared gradient to each row's state, and finds {@link StepBlock#rates}. */
  private void rowRates(OptimizerStep step, Optimizer.RowWiseAdagrad adagrad, StepBlock block) {
    MatrixBlock gradients = block.gradients;
    Arrays.fill(block.squares, 0, StepBlock.SUMS * (gradients.to - gradients.from), 0);
    int j = 0;
    for (; j <= step.width - lanes; j += lanes) {
      VectorSteps.addSquares(step, block, j);
    }
    for (; j < step.width; j++) {
      ScalarSteps.addSquares(step, block, j);
    }
    ScalarSteps.rowRates(step, adagrad, block);
  }
}
