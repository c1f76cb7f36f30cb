package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * Batch normalization (Ioffe and Szegedy 2015, algorithm 1): {@code gamma * (x - E[x]) /
 * sqrt(Var[x] + 1e-5) + beta} with the mean and variance of each column over the batch while
 * training. Scoring uses moving averages, {@code average = 0.9 * average + 0.1 * batch}, which
 * start at 0 and 1. A batch of one row leaves the average variance unchanged.
 */
public final class BatchNorm {
  private static final float EPSILON = 1e-5f;

  /** Share of a batch in the moving averages. */
  static final float SHARE = 0.1f;

  private final Variable gamma;
  private final Variable beta;
  private final BatchStatistics statistics;

  /** A layer over {@code width} columns, that only standardizes at first. */
  public BatchNorm(Parameters parameters, String name, int width) {
    this(parameters, name, width, SHARE, EPSILON);
  }

  /**
   * The same with another {@code share} of a batch in the moving averages, 0 to 1, and another
   * number added to variances.
   */
  public BatchNorm(Parameters parameters, String name, int width, float share, float epsilon) {
    gamma = parameters.full(name + ".gamma", Shape.of(width), 1);
    beta = parameters.full(name + ".beta", Shape.of(width), 0);
    statistics = new BatchStatistics(parameters, name, width, share, epsilon);
  }

  /** {@code [B, width]} to {@code [B, width]}. */
  public Tensor apply(Tensor x, Pass pass) {
    return statistics.standardize(x, pass).mul(gamma.tensor()).add(beta.tensor());
  }
}
