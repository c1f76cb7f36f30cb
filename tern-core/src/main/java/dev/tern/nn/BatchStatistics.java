package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * Mean and variance of each column: over the batch in training, moving averages in scoring (Ioffe
 * and Szegedy 2015, algorithms 1 and 2).
 */
final class BatchStatistics {
  private final Variable mean;
  private final Variable variance;
  private final float share;
  private final float epsilon;

  /**
   * Statistics of {@code width} columns.
   *
   * @param share of a batch in the moving averages
   */
  BatchStatistics(Parameters parameters, String name, int width, float share, float epsilon) {
    mean = parameters.statistic(name + ".mean", Shape.of(width), 0);
    variance = parameters.statistic(name + ".variance", Shape.of(width), 1);
    this.share = share;
    this.epsilon = epsilon;
  }

  /** {@code (x - mean) / sqrt(variance + epsilon)}: {@code [B, width]} to {@code [B, width]}. */
  Tensor standardize(Tensor x, Pass pass) {
    if (!pass.isTraining()) {
      return x.sub(mean.tensor()).mul(variance.tensor().add(epsilon).rsqrt());
    }
    // Distances from the first row give both sums in one pass over the batch (Chan, Golub and
    // LeVeque 1983). No row is further from the mean than sqrt(rows) deviations, so the variance
    // loses at most about rows * 1e-7 of itself. Mathematically any reference row gives the same.
    Tensor first = x.slice(0, 0, 1).detach();
    Tensor distance = x.sub(first);
    Tensor offset = distance.meanKeep(0);
    Tensor batchMean = first.add(offset);
    Tensor batchVariance = distance.square().meanKeep(0).sub(offset.square()).relu();
    int rows = x.shape().size(0);
    move(pass, mean, batchMean);
    if (rows > 1) {
      // The variance of a batch is too small by (rows - 1) / rows; of one row it is 0.
      move(pass, variance, batchVariance.mul(rows / (rows - 1f)));
    }
    Tensor scale = batchVariance.add(epsilon).rsqrt();
    return x.normalized(0, x.sub(batchMean).mul(scale), scale);
  }

  private void move(Pass pass, Variable average, Tensor batch) {
    pass.update(average, average.tensor().mul(1 - share).add(batch.reshape(-1).mul(share)));
  }
}
