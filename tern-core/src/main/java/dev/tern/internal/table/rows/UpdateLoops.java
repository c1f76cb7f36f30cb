package dev.tern.internal.table.rows;

import dev.tern.base.DType;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.optim.Optimizer;
import java.util.Arrays;

/**
 * The loops that add up gradients and change rows. {@link VectorSteps} takes the columns of whole
 * vectors, {@link ScalarSteps} the rest, with the same bits. The inner loop runs over rows; {@link
 * RowReads} says why. Each thread needs a {@link StepBlock} of its own.
 */
public final class UpdateLoops {
  private final int lanes;

  public UpdateLoops(boolean vectors) {
    lanes = vectors ? VectorRows.LANES : Integer.MAX_VALUE;
  }

  /** With vectors if this process has them. */
  static UpdateLoops fastest() {
    return new UpdateLoops(VectorSupport.available());
  }

  /**
   * Adds up gradients of a grouped lookup: row {@code u} of {@code sums} becomes the sum, in order
   * of position, of the gradients of the bags that hold id {@code u}, each times the id's factor.
   */
  void sumGradients(RowLookup lookup, int[] bags, MatrixBlock gradients, MatrixBlock sums) {
    int j = gradients.begin;
    int end = gradients.end;
    for (; j <= end - 2L * lanes; j += 2 * lanes) {
      VectorSteps.sumGradients2(lookup, bags, gradients, sums, j);
    }
    for (; j <= end - lanes; j += lanes) {
      VectorSteps.sumGradients(lookup, bags, gradients, sums, j);
    }
    for (; j < end; j++) {
      ScalarSteps.sumGradients(lookup, bags, gradients, sums, j);
    }
  }

  /** Adds row {@code sources[i]} to row {@code targets[i]} for each i below count, in order. */
  void addRows(MatrixBlock rows, int[] targets, int[] sources, int count) {
    int j = rows.begin;
    for (; j <= rows.end - lanes; j += lanes) {
      VectorSteps.addRows(rows, targets, sources, count, j);
    }
    for (; j < rows.end; j++) {
      ScalarSteps.addRows(rows, targets, sources, count, j);
    }
  }

  /** Scales the gradients of rows down to a norm of at most {@code norm}. */
  void clip(float norm, StepBlock block) {
    int begin = block.gradients.begin;
    int end = block.gradients.end;
    Arrays.fill(block.squares, 0, StepBlock.SUMS * (block.to() - block.from()), 0);
    int j = begin;
    for (; j <= end - lanes; j += lanes) {
      VectorSteps.addSquares(block, j);
    }
    for (; j < end; j++) {
      ScalarSteps.addSquares(block, j);
    }
    ScalarSteps.clipFactors(norm, block);
    for (j = begin; j <= end - lanes; j += lanes) {
      VectorSteps.scale(block, j);
    }
    for (; j < end; j++) {
      ScalarSteps.scale(block, j);
    }
  }

  /** Moves weights of F32 to the nearest within {@code low} and {@code high}. */
  void clamp(StepBlock block, int width, float low, float high) {
    int j = 0;
    for (; j <= width - lanes; j += lanes) {
      VectorSteps.clamp(block, low, high, j);
    }
    for (; j < width; j++) {
      ScalarSteps.clamp(block, low, high, j);
    }
  }

  /**
   * Rounds row {@code i} of {@code weights} into the row at address {@code rows[i]}.
   *
   * @param storage F16: to the nearest; BF16: up or down at random
   * @param keys for BF16, the random bits of a row depend on its key and the column alone
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

  /** One optimizer step on the rows of a block, weights of F32. The rows must be distinct. */
  void update(OptimizerStep step, StepBlock block) {
    block.width = step.width;
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

  /** Decays moments for the steps that left their rows alone, and notes this step. */
  private void decayMoments(OptimizerStep step, StepBlock block) {
    if (!ScalarSteps.momentDecays(step, block)) {
      return;
    }
    int j = 0;
    for (; j <= step.width - lanes; j += lanes) {
      VectorSteps.decay(block, j);
    }
    for (; j < step.width; j++) {
      ScalarSteps.decay(block, j);
    }
  }

  /** Adds the mean squared gradient to each row's state, and sets {@link StepBlock#rates}. */
  private void rowRates(OptimizerStep step, Optimizer.RowWiseAdagrad adagrad, StepBlock block) {
    Arrays.fill(block.squares, 0, StepBlock.SUMS * (block.to() - block.from()), 0);
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
