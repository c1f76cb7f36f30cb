package dev.tern.metrics;

/**
 * How often a model of two towers finds the own item of rows labelled 1 among the best of all
 * candidates. Not thread-safe.
 */
public final class RetrievalMetrics {
  private final int at;
  private long rows;
  private double all;
  private double found;

  /**
   * Figures of all rows.
   *
   * @param at items that are found for each row, {@code k}
   * @param candidates items that were compared
   * @param rows rows labelled 1
   * @param recall the share of these whose own item is among the {@code k} best, by weight; NaN
   *     without rows
   */
  public record Result(int at, int candidates, long rows, double recall) {}

  /**
   * Metrics without rows. For example, where three of four rows labelled 1 have their item among
   * the best, recall is 0.75; where the fourth has the weight 2, it is 3 / 5.
   *
   * @param at items that are found for each row, 1 or more
   */
  public RetrievalMetrics(int at) {
    if (at < 1) {
      throw new IllegalArgumentException(
          "recall: got the best %d items, expected 1 or more".formatted(at));
    }
    this.at = at;
  }

  /**
   * Adds a row.
   *
   * @param hit whether its own item is among the best
   * @param weight how often the row counts, times its label: finite, 0 or more. A row of weight 0
   *     is left out
   */
  public void add(boolean hit, float weight) {
    if (!(weight >= 0 && weight < Float.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "recall: got the weight %s in row %d, expected a finite number of 0 or more"
              .formatted(weight, rows));
    }
    if (weight > 0) {
      rows++;
      all += weight;
      found += hit ? weight : 0;
    }
  }

  /**
   * The figures of the rows so far.
   *
   * @param candidates items that were compared
   */
  public Result result(int candidates) {
    return new Result(at, candidates, rows, found / all);
  }
}
