package dev.tern.nn;

import dev.tern.tensor.Shape;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * Mean and variance of each column: of the batch while training, moving averages of them when
 * scoring (Ioffe and Szegedy 2015, algorithms 1 and 2).
 */
final class BatchStatistics {
  /** Share of a batch in the moving averages. */
  private static final float SHARE = 0.1f;

  private final Variable mean;
  private final Variable variance;
  private final float epsilon;

  BatchStatistics(Parameters parameters, String name, int width, float epsilon) {
    mean = parameters.statistic(name + ".mean", Shape.of(width), 0);
    variance = parameters.statistic(name + ".variance", Shape.of(width), 1);
    this.epsilon = epsilon;
  }

  /** {@code (x - mean) / sqrt(variance + epsilon)}: {@code [B, width]} to {@code [B, width]}. */
  Tensor standardize(Tensor x, Pass pass) {
    if (!pass.isTraining()) {
      return x.sub(mean.tensor()).mul(variance.tensor().add(epsilon).rsqrt());
    }
    Tensor batchMean = x.mean(0);
    // The variance is least at the mean, so its gradient by the mean is 0: detached, both sums of
    // the backward pass need one pass over the rows.
    Tensor batchVariance = x.sub(batchMean.detach()).square().mean(0);
    int rows = x.shape().size(0);
    move(pass, mean, batchMean);
    if (rows > 1) {
      // Of so few rows the variance comes out too small by (rows - 1) / rows; that of one says
      // nothing.
      move(pass, variance, batchVariance.mul(rows / (rows - 1f)));
    }
    return x.sub(batchMean).mul(batchVariance.add(epsilon).rsqrt());
  }

  private static void move(Pass pass, Variable average, Tensor batch) {
    pass.update(average, average.tensor().mul(1 - SHARE).add(batch.mul(SHARE)));
  }
}
