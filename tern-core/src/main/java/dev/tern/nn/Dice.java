package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import java.util.function.Supplier;

/**
 * Data adaptive activation (Zhou et al. 2018, DIN, equation 3): {@code p(s) s + (1 - p(s)) alpha s}
 * with {@code p(s) = sigmoid((s - E[s]) / sqrt(Var[s] + 1e-8))}: a PReLU with a smooth bend at the
 * mean of the data. {@code E} and {@code Var} are the mean and variance of each column over the
 * batch in training, and moving averages in scoring, as in {@link BatchNorm}. {@code alpha} starts
 * at 0.
 */
public final class Dice {
  private static final float EPSILON = 1e-8f;

  private final Supplier<Tensor> alpha;
  private final BatchStatistics statistics;

  /** A layer over {@code width} columns. */
  public Dice(Parameters parameters, String name, int width) {
    this(
        parameters.full(name + ".alpha", Shape.of(width), 0)::tensor,
        new BatchStatistics(parameters, name, width, BatchNorm.SHARE, EPSILON));
  }

  /**
   * The numbers of a layer that does not learn its {@code alpha}.
   *
   * @param epsilon added to variances
   * @param share of a batch in the moving averages, 0 to 1
   */
  public record Fixed(float alpha, float epsilon, float share) {}

  private Dice(Supplier<Tensor> alpha, BatchStatistics statistics) {
    this.alpha = alpha;
    this.statistics = statistics;
  }

  /**
   * A layer with one {@code alpha} for all columns that is not learned.
   *
   * @param rule of the layer
   */
  public static Dice fixed(Parameters parameters, String name, int width, Fixed rule) {
    return new Dice(
        () -> Tensor.scalar(rule.alpha()),
        new BatchStatistics(parameters, name, width, rule.share(), rule.epsilon()));
  }

  /** {@code [B, width]} to {@code [B, width]}. */
  public Tensor apply(Tensor s, Pass pass) {
    Tensor p = statistics.standardize(s, pass).sigmoid();
    Tensor below = alpha.get();
    return s.mul(below.add(p.mul(Tensor.scalar(1).sub(below))));
  }
}
