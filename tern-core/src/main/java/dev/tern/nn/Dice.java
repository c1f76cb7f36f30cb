package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * Data adaptive activation (Zhou et al. 2018, DIN, equation 3): {@code p(s) s + (1 - p(s)) alpha s}
 * with {@code p(s) = sigmoid((s - E[s]) / sqrt(Var[s] + 1e-8))}: a PReLU with a smooth bend at the
 * mean of the data. {@code E} and {@code Var} are the mean and variance of each column over the
 * batch in training, and moving averages in scoring, as in {@link BatchNorm}. {@code alpha} starts
 * at 0.
 */
public final class Dice {
  private static final float EPSILON = 1e-8f;

  private final Variable alpha;
  private final BatchStatistics statistics;

  /** A layer over {@code width} columns. */
  public Dice(Parameters parameters, String name, int width) {
    alpha = parameters.full(name + ".alpha", Shape.of(width), 0);
    statistics = new BatchStatistics(parameters, name, width, EPSILON);
  }

  /** {@code [B, width]} to {@code [B, width]}. */
  public Tensor apply(Tensor s, Pass pass) {
    Tensor p = statistics.standardize(s, pass).sigmoid();
    Tensor below = alpha.tensor();
    return s.mul(below.add(p.mul(Tensor.scalar(1).sub(below))));
  }
}
