package dev.tern.metrics;

import dev.tern.model.Loss;

/**
 * How well a task predicts values, such as prices or counts: sums over rows, each as often as its
 * weight says. Not thread-safe.
 */
public final class ValueMetrics {
  private final Loss loss;
  private long rows;
  private double weights;
  private double losses;
  private double squares;
  private double absolutes;
  private double shares;
  private double predictions;
  private double labels;
  private double mean;
  private double spread;

  /**
   * Figures of rows with labels {@code y} and predictions {@code p}, means by weight. All are NaN
   * without rows, or where no row has a weight.
   *
   * @param rows rows
   * @param loss mean of the task's loss
   * @param mse mean of {@code (p - y)^2}
   * @param mae mean of {@code |p - y|}
   * @param r2 {@code 1 - sum((p - y)^2) / sum((y - mean(y))^2)}: 1 where all predictions are right,
   *     0 for the constant {@code mean(y)}, below 0 for worse; NaN where all labels are equal. For
   *     example, labels 1, 2, 3 predicted as 1, 2, 2 have {@code 1 - 1 / 2 = 0.5}
   * @param smape mean of {@code 2 |p - y| / (|p| + |y|)}, 0 to 2, where a row of two zeros is 0
   * @param calibration {@code sum(p) / sum(y)}: 1 is right where labels are 0 or more
   */
  public record Result(
      long rows,
      double loss,
      double mse,
      double mae,
      double r2,
      double smape,
      double calibration) {}

  /** Metrics of what {@code loss} predicts. */
  public ValueMetrics(Loss loss) {
    this.loss = loss;
  }

  /**
   * Adds a row.
   *
   * @param logit of the model, which {@link Loss#predicted} makes a prediction of
   * @param weight how often the row counts: finite, 0 or more
   * @throws IllegalArgumentException if the logit is NaN, the loss does not accept the label, or
   *     the weight is another
   */
  public void add(float logit, float label, float weight) {
    if (Float.isNaN(logit)) {
      throw new IllegalArgumentException(
          "metrics: got the score NaN in row %d, expected a number; look for huge values among the features of the row, or lower the learning rate where training diverged"
              .formatted(rows));
    }
    if (!loss.accepts(label)) {
      throw new IllegalArgumentException(
          "metrics: got the label %s in row %d, expected %s"
              .formatted(label, rows, loss.accepted()));
    }
    if (!(weight >= 0 && weight < Float.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "metrics: got the weight %s in row %d, expected a finite number of 0 or more"
              .formatted(weight, rows));
    }
    rows++;
    if (weight > 0) {
      add(loss.predicted(logit), logit, label, weight);
    }
  }

  private void add(double prediction, double logit, double label, double weight) {
    double error = prediction - label;
    double size = Math.abs(prediction) + Math.abs(label);
    weights += weight;
    losses += weight * loss.value(logit, label);
    squares += weight * error * error;
    absolutes += weight * Math.abs(error);
    shares += size == 0 ? 0 : weight * 2 * Math.abs(error) / size;
    predictions += weight * prediction;
    labels += weight * label;
    // West's recurrence: no digits are lost where labels hardly differ.
    double away = label - mean;
    mean += away * weight / weights;
    spread += weight * away * (label - mean);
  }

  /** The figures of the rows added since the last {@link #clear}; more rows may follow. */
  public Result result() {
    return new Result(
        rows,
        losses / weights,
        squares / weights,
        absolutes / weights,
        spread == 0 ? Double.NaN : 1 - squares / spread,
        shares / weights,
        predictions / labels);
  }

  /** Forgets all rows. */
  public void clear() {
    rows = 0;
    weights = 0;
    losses = 0;
    squares = 0;
    absolutes = 0;
    shares = 0;
    predictions = 0;
    labels = 0;
    mean = 0;
    spread = 0;
  }
}
