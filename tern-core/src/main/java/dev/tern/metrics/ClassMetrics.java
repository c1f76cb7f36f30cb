package dev.tern.metrics;

/**
 * How well the scores of several classes tell the class of each row. A row may have a weight: the
 * figures are then those of data in which it stands so many times. Not thread-safe.
 */
public final class ClassMetrics {
  private final int classes;
  private long rows;
  private double weights;
  private double right;
  private double loss;

  /**
   * Figures of all rows; NaN without a row that counts.
   *
   * @param label that is a class
   * @param classes how many there are
   * @param rows rows
   * @param accuracy share of the rows whose class has the highest score
   * @param logLoss mean of {@code -log(probability of the row's class)}, in nats. For example, with
   *     probabilities 0.5 and 0.25 of the classes of two rows it is (0.693 + 1.386) / 2 = 1.040
   */
  public record Result(String label, int classes, long rows, double accuracy, double logLoss) {}

  /** Metrics of {@code classes} classes, without rows. */
  public ClassMetrics(int classes) {
    this.classes = classes;
  }

  /**
   * Adds a row.
   *
   * @param odds log-odds of each class against the others, from {@code at} on ({@code
   *     Loss.OfClass})
   * @param own the class of the row; it is told where its score is above those of all classes
   *     before it, and not below those behind
   * @param weight how often the row counts, 0 or more
   */
  public void add(float[] odds, int at, int own, float weight) {
    rows++;
    if (weight == 0) {
      return; // Its loss may be infinite.
    }
    boolean highest = true;
    for (int k = 0; k < classes; k++) {
      float other = odds[at + k];
      highest &= k == own || (k < own ? other < odds[at + own] : other <= odds[at + own]);
    }
    double away = -(double) odds[at + own];
    weights += weight;
    right += highest ? weight : 0;
    loss += weight * (Math.max(away, 0) + StrictMath.log1p(StrictMath.exp(-Math.abs(away))));
  }

  /** The figures of the rows since the last {@link #clear}, of the label {@code label}. */
  public Result result(String label) {
    return new Result(label, classes, rows, right / weights, loss / weights);
  }

  /** Forgets all rows. */
  public void clear() {
    rows = 0;
    weights = 0;
    right = 0;
    loss = 0;
  }
}
